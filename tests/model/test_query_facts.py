import msgspec

from warren.model.query_facts import QueryFacts, first_line, followed_by, gone_groups

SECOND, MINUTE = 1000, 60_000
RUNNING = QueryFacts(
    origin="listener", name="orders", id="q", run_id="1", seen_ms=MINUTE, batch=7, input_rate=5.0
)


def of(**news: object) -> QueryFacts:
    return msgspec.structs.replace(RUNNING, **news)


def test_a_new_run_is_a_restart_and_a_repeated_report_is_not() -> None:
    restarted = of(run_id="2", seen_ms=2 * MINUTE, batch=None)

    again = followed_by(followed_by(RUNNING, restarted), restarted)

    assert again.restarts == 1
    assert (again.run_id, again.batch) == ("2", None)


def test_old_news_change_nothing() -> None:
    ended = followed_by(RUNNING, of(seen_ms=2 * MINUTE, ended_ms=2 * MINUTE))

    assert followed_by(ended, of(seen_ms=MINUTE, batch=9)) == ended
    assert followed_by(ended, of(seen_ms=2 * MINUTE)) == ended


def test_news_keep_what_they_do_not_say() -> None:
    ended = followed_by(RUNNING, QueryFacts(origin="listener", seen_ms=2 * MINUTE, ended_ms=1))

    assert (ended.name, ended.id, ended.run_id, ended.batch) == ("orders", "q", "1", 7)


def test_a_listener_that_reports_knows_better_than_the_checkpoint() -> None:
    reporting = of(every_s=30.0)  # it is gone two minutes after its last report
    checkpoint = QueryFacts(origin="checkpoint", place="file:/x", seen_ms=2 * MINUTE, batch=8)
    much_later = msgspec.structs.replace(checkpoint, seen_ms=6 * MINUTE)

    assert followed_by(reporting, checkpoint) == reporting
    assert followed_by(checkpoint, of(seen_ms=3 * MINUTE)).origin == "listener"
    without_listener = followed_by(reporting, much_later)
    assert (without_listener.origin, without_listener.name) == ("checkpoint", "orders")
    assert (without_listener.batch, without_listener.gone_ms) == (8, None)


def test_reports_count_and_not_the_checkpoint_until_they_have_ended() -> None:
    cases = {
        "a listener lives": (of(every_s=30.0), 3 + 2),
        "its clock is behind": (of(every_s=30.0, late_ms=10 * MINUTE), 13 + 2),
        "it ended": (of(every_s=30.0, ended_ms=MINUTE), 3 + 2),
        "it failed": (of(every_s=30.0, ended_ms=MINUTE, error="x", error_ms=MINUTE), 1 + 2),
        "reports promise nothing": (of(origin="report"), 1 + 60),
    }

    wrong = [
        name
        for name, (facts, until) in cases.items()
        if not facts.overrules(until * MINUTE) or facts.overrules(until * MINUTE + 1)
    ]

    assert wrong == []
    assert not of(origin="checkpoint").overrules(0)


def test_a_checkpoint_with_another_id_is_a_query_that_was_started_anew() -> None:
    first = QueryFacts(origin="checkpoint", id="a", seen_ms=MINUTE, batch=7)

    same = followed_by(first, msgspec.structs.replace(first, seen_ms=2 * MINUTE, batch=8))
    anew = followed_by(same, msgspec.structs.replace(first, seen_ms=3 * MINUTE, id="b", batch=0))

    assert (same.restarts, anew.restarts, anew.batch) == (0, 1, 0)


def test_whoever_sends_old_news_lives_all_the_same() -> None:
    """Its clock may have been set back."""
    living = of(every_s=30.0, seen_ms=10 * MINUTE)
    old = of(every_s=30.0, seen_ms=5 * MINUTE, late_ms=7 * MINUTE, batch=1)
    other_run = msgspec.structs.replace(old, run_id="0")

    assert followed_by(living, old).gone_ms == (12 + 2) * MINUTE
    assert followed_by(living, old).batch == 7
    assert followed_by(living, other_run) == living


def test_the_last_error_is_remembered_after_a_restart() -> None:
    failed = of(seen_ms=MINUTE, ended_ms=MINUTE, error="boom", error_ms=MINUTE)
    running = followed_by(failed, of(run_id="2", seen_ms=2 * MINUTE))

    assert failed.has_failed
    assert not running.has_failed
    assert (running.error, running.ended_ms) == ("boom", None)


def test_when_a_query_counts_as_gone() -> None:
    hourly = followed_by(
        followed_by(RUNNING, of(seen_ms=2 * MINUTE, ended_ms=2 * MINUTE)),
        of(seen_ms=62 * MINUTE, run_id="2"),
    )
    cases = {
        "it lives": (RUNNING, None),
        "it failed": (of(ended_ms=MINUTE, error="boom", error_ms=MINUTE), MINUTE),
        "it ended": (of(ended_ms=MINUTE), 3 * MINUTE),
        "it ended, as every hour": (
            followed_by(hourly, of(run_id="2", seen_ms=63 * MINUTE, ended_ms=63 * MINUTE)),
            (63 + 90) * MINUTE,
        ),
        "it ended, as was heard later": (of(ended_ms=MINUTE, late_ms=MINUTE), 4 * MINUTE),
        "its clock is behind": (of(every_s=1.0, late_ms=9 * MINUTE), 12 * MINUTE),
        "it reports every minute": (of(every_s=60.0), 5 * MINUTE),
        "it reports every second": (of(every_s=1.0), 3 * MINUTE),
    }

    wrong = {
        name: each.gone_ms for name, (each, gone_ms) in cases.items() if each.gone_ms != gone_ms
    }

    assert wrong == {}


def test_what_became_gone_while_warren_was_away_gets_time_to_report() -> None:
    queries = {"long": of(ended_ms=0), "meanwhile": of(every_s=30.0)}
    away_ms = (2 * MINUTE + 1, 60 * MINUTE)  # "meanwhile" is gone 3 minutes after the beginning

    def gone(now_ms: int) -> list[bool] | None:
        found = gone_groups(queries, ["long", "meanwhile"], now_ms, away_ms)
        return None if found is None else found.tolist()

    assert gone(61 * MINUTE) == [True, False]
    assert gone(62 * MINUTE) == [True, True]


def test_gone_groups_are_those_of_queries_that_are_gone() -> None:
    queries = {"a": RUNNING, "b": of(ended_ms=0), "c": of(ended_ms=9 * MINUTE)}

    gone = gone_groups(queries, ["b", "c", "d"], 10 * MINUTE)

    assert gone is not None
    assert gone.tolist() == [True, False, False]
    assert gone_groups({"a": RUNNING}, ["a"], 10 * MINUTE) is None


def test_the_first_line_of_an_exception_is_short() -> None:
    assert first_line("\n  [OFFSET] out of range\n at org.apache") == "[OFFSET] out of range"
    assert first_line("") == ""
    python = (
        'Return Message: Traceback (most recent call last):\n  File "x"\n    y()\nKeyError: 1\n'
    )
    assert first_line(python) == "KeyError: 1"
    assert first_line("Traceback (most recent call last):") == "Traceback (most recent call last):"
    assert len(first_line("x" * 10_000)) == 500
