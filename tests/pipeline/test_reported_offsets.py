"""Reports become commits as of any other source: once each, in the order of their times."""

import msgspec
import pyarrow as pa
import pytest
from support.reported import DEFAULT, NOW_MS, NOW_S, Clock, consumer, judged, news, report

from warren.config import GroupFilter
from warren.evaluate.judge import JudgeSettings
from warren.model.offset_reports import Report
from warren.model.status import Status
from warren.pipeline.cluster import Accepts
from warren.pipeline.reported_offsets import MOST_WAITING, ReportCheck, ReportedConsumer
from warren.pipeline.steps import delete_group
from warren.windows.window_reader import detail

MINUTE_MS = 60_000


def window(of: ReportedConsumer, topic: str = "orders", number: int = 0) -> list[tuple[int, int]]:
    """Offset and time of each commit."""
    of_topic = detail(of.cluster.windows, "job").get(topic)
    commits = of_topic[number].commits if of_topic else []
    return [(each.offset, each.committed_ms) for each in commits]


def later(of: ReportedConsumer, seconds: float) -> None:
    clock = of.cluster.clock
    assert isinstance(clock, Clock)
    clock.now_s += seconds


def take(of: ReportedConsumer, *reports: Report) -> list[str]:
    """Send them; why each that was refused was."""
    taken = ReportCheck([of]).take(reports)
    of.fold(of.collect())
    return [each.why for each in taken.refused] or ([taken.problem] if taken.problem else [])


def test_the_same_report_again_changes_nothing_and_older_ones_do_not_undo_newer() -> None:
    job = consumer()
    new, old = report(("orders", 0, 40)), report(("orders", 0, 20), at_ms=NOW_MS - MINUTE_MS)

    assert [take(job, new), take(job, new), take(job, old), take(job, new, old)] == [[]] * 4

    assert window(job) == [(20, NOW_MS - MINUTE_MS), (40, NOW_MS)]
    assert window(job, number=1) == []


def test_what_is_wrong_is_refused_with_the_reason_and_the_rest_is_kept() -> None:
    job = consumer(accepts=Accepts(GroupFilter("", "^secret-")))
    late_ms = NOW_MS - 8 * 86_400_000
    right = ("orders", 0, 10)
    wrong = {
        "topic absent does not exist in cluster local, as listed 5 s ago": report(("absent", 0, 1)),
        "topic orders has partitions 0 to 1 in": report(right, ("orders", 2, 1)),
        "in the future": report(right, at_ms=NOW_MS + 2 * MINUTE_MS),
        "more than expire-group, 604800 s, ago": report(right, at_ms=late_ms),
        "is it in seconds?": report(right, at_ms=NOW_S),
        "cluster 'other' takes no reports; these do: local": report(right, cluster="other"),
        "is left out by group-allowlist": report(right, group="secret-x"),
    }

    told = {why: take(job, each) for why, each in wrong.items()}

    assert [
        why for why, reasons in told.items() if len(reasons) != 1 or why not in reasons[0]
    ] == []
    assert window(job) == [(10, NOW_MS)]  # of the item that had another offset that was wrong


def test_a_clock_that_is_a_little_ahead_is_set_right() -> None:
    job = consumer()
    ahead = report(("orders", 0, 10), at_ms=NOW_MS + MINUTE_MS // 2)

    assert take(job, ahead) == take(job, ahead) == []

    assert window(job) == [(10, NOW_MS)]


def moving(job: ReportedConsumer, seconds: int, *, behind_s: int, says_when_sent: bool) -> None:
    """A batch each second, reported at once by a job whose clock is behind."""
    living = msgspec.structs.replace(news(), every_s=30.0)
    ends = {"topic": ["orders", "orders"], "partition": [0, 1], "offset": [10_000, 10_000]}
    job.cluster.windows.set_log_ends(pa.table(ends), {"orders": 2, "bills": 1})
    for second in range(seconds):
        later(job, 1)
        at_ms = int(job.cluster.clock() * 1000) - 1000 * behind_s
        said = report(("orders", 0, 30 * second), ("orders", 1, 30 * second), at_ms=at_ms - 200)
        sent_ms = at_ms if says_when_sent else None
        assert take(job, msgspec.structs.replace(said, query=living, sent_ms=sent_ms)) == []


@pytest.mark.parametrize("behind_s", [-86_400, -3, 0, 180, 86_400])
def test_a_job_whose_clock_is_wrong_is_judged_as_any_other_if_it_says_when_it_sends(
    behind_s: int,
) -> None:
    job, right = consumer(), consumer()

    moving(right, 20, behind_s=0, says_when_sent=False)
    moving(job, 20, behind_s=behind_s, says_when_sent=True)

    assert window(job) == window(right)
    for evaluator in (DEFAULT, JudgeSettings(says_words=True)):
        verdicts = judged(job, evaluator).verdicts
        assert verdicts.partitions.status.tolist() == [Status.OK, Status.OK]


@pytest.mark.parametrize("evaluator", [DEFAULT, JudgeSettings(says_words=True)])
def test_what_is_reported_late_is_no_silence_and_its_sender_is_not_gone(
    evaluator: JudgeSettings,
) -> None:
    job = consumer()

    moving(job, 20, behind_s=150, says_when_sent=False)
    reporting = gone(job), judged(job, evaluator).verdicts.partitions.status.tolist()
    take(job, report(("orders", 0, 0), at_ms=NOW_MS - 500_000))  # an old one again
    later(job, 121)
    silent = gone(job), judged(job, evaluator).verdicts.partitions.status.tolist()

    assert reporting == ([], [Status.OK, Status.OK])
    assert silent == ([True], [Status.STOP, Status.STOP])
    assert job.cluster.queries["job"].late_ms == 150_200


def gone(job: ReportedConsumer) -> list[bool]:
    found = job.cluster.gone_groups(["job"], int(job.cluster.clock()))
    return [] if found is None else found.tolist()


def test_a_report_has_one_time_however_often_it_is_sent() -> None:
    job = consumer()
    behind = report(("orders", 0, 40), at_ms=NOW_MS - MINUTE_MS)

    for late_ms in (0, 900, 200):  # the ways of two requests differ
        later(job, 1)
        sent_ms = NOW_MS - MINUTE_MS + int(job.cluster.clock() * 1000) - NOW_MS - late_ms
        take(job, msgspec.structs.replace(behind, sent_ms=sent_ms))

    assert window(job) == [(40, NOW_MS)]


def test_a_query_that_is_idle_and_lives_stays_for_longer_than_other_groups() -> None:
    """What its listener repeats is taken, also by a Warren that knows nothing of it."""
    living = msgspec.structs.replace(news(), every_s=30.0)
    repeated = report(("orders", 0, 100), ("orders", 1, 100))
    days = [consumer(), consumer()]
    take(days[0], msgspec.structs.replace(repeated, query=living))

    told = []
    for job in days:
        later(job, 8 * 86_400)
        now_ms = int(job.cluster.clock() * 1000)
        again = msgspec.structs.replace(repeated, sent_ms=now_ms)
        told += take(job, again, report(at_ms=now_ms, query=living))

    assert told == []
    assert [judged(job).verdicts.groups.status.tolist() for job in days] == [[Status.OK]] * 2
    later(days[0], 86_400)
    assert judged(days[0]).verdicts.groups.status.tolist() == []


def test_limits_hold_within_a_request_and_for_reports_without_offsets() -> None:
    job = consumer(max_groups=3)
    of_groups = [report(("orders", 0, 1), group=f"g{number}") for number in range(5)]
    only_news = [report(group="g0", query=news())] * MOST_WAITING

    first = ReportCheck([job]).take(of_groups)
    second = ReportCheck([job]).take([report(group="g9", query=news())])
    job.fold(job.collect())

    why = "there is no room for another group: max-groups is 3"
    assert [(each.item, each.why) for each in (*first.refused, *second.refused)] == [(0, why)] * 3
    assert first.kept == 3
    assert ReportCheck([job]).take(only_news).code == 200
    assert ReportCheck([job]).take([report(group="g0", query=news())]).code == 503


def test_what_waits_is_folded_in_pieces_so_that_nobody_waits_long_for_the_lock() -> None:
    job = consumer()
    ReportCheck([job]).take([report(("orders", 0, 1)), report(query=news())] * 5)

    sizes = []
    while some := job.collect(4):
        sizes.append(len(some))

    assert sizes == [4, 4, 2]
    assert job.waiting == 0


def test_limits_hold_for_groups_and_for_what_waits() -> None:
    job = consumer(max_groups=2)
    many = [("orders", 0, 1)] * (MOST_WAITING // 20)

    told = [take(job, report(("orders", 0, 1), group=name)) for name in ("a", "b", "c", "a")]
    for _ in range(20):
        assert ReportCheck([job]).take([report(*many, group="a")]).code == 200

    assert told == [[], [], ["there is no room for another group: max-groups is 2"], []]
    assert ReportCheck([job]).take([report(("orders", 0, 1), group="a")]).code == 503
    assert job.cluster.windows.dropped["no room"] == 1


def test_with_several_clusters_a_report_must_name_its_own() -> None:
    both = [consumer("east"), consumer("west")]
    right = ("orders", 0, 10)

    taken = ReportCheck(both).take(
        [report(right, item=3), report(right, cluster="west", item=4), report(right, cluster="x")]
    )

    assert (taken.kept, [each.item for each in taken.refused]) == (1, [3, 0])
    assert [len(each.collect()) for each in both] == [0, 1]
    assert ReportCheck([]).take([report(right)]).code == 404


def test_a_complete_report_ends_what_it_does_not_name() -> None:
    job = consumer()
    before, after = NOW_MS - MINUTE_MS, NOW_MS
    take(job, report(("orders", 0, 10), ("orders", 1, 10), ("bills", 0, 5), at_ms=before))

    take(job, report(("orders", 0, 20), at_ms=after, is_complete=True))
    take(job, report(("bills", 0, 6), at_ms=before))  # came late

    assert window(job) == [(10, before), (20, after)]
    assert window(job, "orders", 1) == window(job, "bills") == []


def test_until_topics_have_been_listed_reports_wait() -> None:
    job = consumer()
    job.cluster.topics = None

    assert take(job, report(("new", 7, 10))) == []

    assert len(job.cluster.windows.waiting) == 1


def test_a_failed_query_with_unread_records_stops_at_once_and_a_new_run_ends_that() -> None:
    job = consumer()
    take(job, report(("orders", 0, 40), ("orders", 1, 100), query=news()))
    running = judged(job).verdicts
    later(job, 10)

    take(job, report(at_ms=NOW_MS + 10_000, query=news(has_ended=True, error="boom\n at x")))
    failed = judged(job).verdicts
    take(job, report(at_ms=NOW_MS + 10_000, query=news("2")))  # of the same moment
    later(job, 1)
    take(job, report(("orders", 0, 50), at_ms=NOW_MS + 11_000, query=news("2")))

    facts = job.cluster.queries["job"]
    assert [
        each.partitions.status.tolist() for each in (running, failed, judged(job).verdicts)
    ] == [
        [Status.STALL, Status.OK],
        [Status.STOP, Status.OK],
        [Status.OK, Status.OK],
    ]
    assert (facts.restarts, facts.error, facts.ended_ms, facts.run_id) == (
        1,
        "boom\n at x",
        None,
        "2",
    )


def test_a_query_that_has_read_everything_may_end() -> None:
    job = consumer()
    take(job, report(("orders", 0, 100), query=news()))
    take(job, report(at_ms=NOW_MS + 1, query=news(has_ended=True, error="boom")))

    assert judged(job).verdicts.groups.status.tolist() == [Status.OK]


def test_what_a_listener_repeats_changes_nothing_but_when_it_was_seen() -> None:
    job, alive = consumer(), msgspec.structs.replace(news(), batch=None, triggered_ms=None)
    take(job, report(("orders", 0, 40), query=news()))
    later(job, 30)

    repeated = report(("orders", 0, 40)), report(at_ms=NOW_MS + 30_000, query=alive)
    before = job.cluster.queries["job"]
    take(job, *repeated)
    take(job, *repeated)

    seen = msgspec.structs.replace(before, seen_ms=NOW_MS + 30_000)
    assert job.cluster.queries == {"job": seen}
    assert window(job) == [(40, NOW_MS)]


def test_after_a_restart_groups_that_have_not_reported_stay_as_they_were_for_a_while() -> None:
    job = consumer()
    take(job, report(("orders", 0, 40)), report(("orders", 0, 40), group="other"))
    cluster = job.cluster
    cluster.restored_s, cluster.restored_outside_groups = NOW_S, cluster.known_outside_groups()
    cluster.outside_groups.clear()
    later(job, 3600)
    job = ReportedConsumer(job.settings, cluster, Accepts())
    job.begin()
    cluster.restored_s = 0

    before = judged(job).verdicts.groups.as_of_ms.tolist()
    take(job, report(("orders", 0, 41), at_ms=None))
    heard = judged(job).verdicts.groups.as_of_ms.tolist()
    later(job, 121)

    now_ms = NOW_MS + 3_600_000
    assert before == [NOW_MS, NOW_MS]
    assert heard == [now_ms, NOW_MS]
    assert judged(job).verdicts.groups.as_of_ms.tolist() == [now_ms + 121_000] * 2


def test_a_deleted_group_is_forgotten_until_it_reports_again() -> None:
    job = consumer()
    take(job, report(("orders", 0, 40), query=news()))

    delete_group(job.cluster, "job", None)

    assert (window(job), job.cluster.queries) == ([], {})
    take(job, report(("orders", 0, 40), query=news()))
    assert window(job) == [(40, NOW_MS)]
