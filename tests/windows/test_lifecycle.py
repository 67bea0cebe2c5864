"""How commits wait, how groups and topics end, and who owns what."""

from support.batches import NOW, Record, batch, log_ends

from warren.windows.end_history import FEWEST_ROUNDS, MOST_ROUNDS
from warren.windows.window_reader import detail, window_arrays
from warren.windows.windows import Windows

WEEK_MS = 604_800_000


def offsets(windows: Windows, group: str = "g") -> dict[str, list[list[int]]]:
    return {
        topic: [[commit.offset for commit in partition.commits] for partition in partitions]
        for topic, partitions in detail(windows, group).items()
    }


def owners(windows: Windows, group: str = "g", topic: str = "t") -> list[tuple[str, str]]:
    return [(p.owner, p.client_id) for p in detail(windows, group)[topic]]


def watching(*ends: int | None) -> Windows:
    """Windows that know the ends of topic t."""
    windows = Windows()
    windows.set_log_ends(log_ends(*ends), {"t": len(ends)})
    return windows


def test_a_tombstone_ends_a_window_and_later_commits_start_afresh() -> None:
    windows = watching(100, 100)
    windows.fold(batch(Record(1, offset=10), Record(2, offset=20, partition=1)), NOW)

    windows.fold(batch(Record(3, offset=30), Record(4, offset=None), Record(5, offset=50)), NOW)

    assert offsets(windows) == {"t": [[50], [20]]}


def test_a_topic_goes_with_its_last_window_and_a_group_with_its_last_topic() -> None:
    windows = watching(100)
    windows.set_log_ends(log_ends(100, topic="u"), {"u": 1})
    windows.fold(batch(Record(1), Record(2, topic="u")), NOW)

    windows.fold(batch(Record(3, offset=None)), NOW)
    left_one_topic = offsets(windows)
    windows.fold(batch(Record(4, offset=None, topic="u")), NOW)

    assert left_one_topic == {"u": [[0]]}
    assert window_arrays(windows).groups == ()
    assert windows.pairs.of_group == {}


def test_commits_wait_for_their_log_end_and_take_their_lag_from_it() -> None:
    windows = Windows()
    folded = windows.fold(
        batch(Record(2, offset=20), Record(1, offset=10), Record(3, offset=30)), NOW
    )
    shown_before = window_arrays(windows).groups

    windows.set_log_ends(log_ends(None, 100), {"t": 2})
    still_waiting = len(windows.waiting)
    windows.set_log_ends(log_ends(50), {"t": 2})

    commits = detail(windows, "g")["t"][0].commits
    assert (folded.commits, folded.waiting, shown_before, still_waiting) == (0, 3, (), 1)
    assert [(c.offset, c.lag) for c in commits] == [(10, -1), (20, 30), (30, 20)]
    assert len(windows.waiting) == 0


def test_what_waits_for_something_that_does_not_exist_is_dropped_by_a_later_refresh() -> None:
    windows = watching(100)
    windows.fold(batch(Record(1, topic="gone"), Record(2, partition=7)), NOW)

    windows.set_log_ends(log_ends(100), {"t": 1}, complete_as_of_s=NOW)
    kept = len(windows.waiting)
    windows.set_log_ends(log_ends(100), {"t": 1}, complete_as_of_s=NOW + 1)

    assert kept == 2
    assert len(windows.waiting) == 0
    assert windows.dropped == {"no such topic": 1, "no such partition": 1}


def test_what_waits_is_dropped_though_it_is_committed_again_and_again() -> None:
    windows = watching(100)
    for second in range(60):
        windows.fold(batch(Record(second, topic="gone")), NOW + second)
        windows.set_log_ends(log_ends(100), {"t": 1}, complete_as_of_s=NOW + second - 20)

    assert windows.dropped["no such topic"] >= 20  # two windows full


def test_rounds_of_log_ends_take_bounded_memory_when_partitions_are_added() -> None:
    windows = watching(100)
    for second in range(400):
        windows.set_log_ends(log_ends(100), {"t": 1}, now_s=NOW + second)
    few = len(windows.ends.rows.rounds)
    windows.set_log_ends(log_ends(100), {"t": 1, "wide": 200_000}, now_s=NOW + 500)

    assert (few, len(windows.ends.rows.rounds)) == (MOST_ROUNDS, FEWEST_ROUNDS)


def test_a_tombstone_or_a_deletion_ends_the_waiting() -> None:
    windows = Windows()
    windows.fold(batch(Record(1), Record(2, partition=1), Record(3, group="h")), NOW)

    windows.fold(batch(Record(4, offset=None)), NOW)
    windows.delete_group("h")
    windows.set_log_ends(log_ends(100, 100), {"t": 2})

    assert offsets(windows) == {"t": [[], [0]]}
    assert offsets(windows, "h") == {}


def test_a_commit_is_too_old_when_its_group_would_have_expired() -> None:
    windows = watching(100)

    folded = windows.fold(
        batch(Record(1, after_ms=-WEEK_MS - 1), Record(2, after_ms=-WEEK_MS)), NOW
    )

    assert (folded.commits, folded.dropped) == (1, {"too old": 1})


def test_a_group_expires_a_week_after_its_last_commit_anywhere() -> None:
    windows = watching(100, 100)
    windows.fold(batch(Record(1), Record(2, after_ms=5000, partition=1), Record(3, group="h")), NOW)

    first = windows.expire(NOW + 604_800 + 1)
    second = windows.expire(NOW + 604_800 + 6)

    assert (first, second) == (["h"], ["g"])
    assert window_arrays(windows).groups == ()


def test_owners_are_replaced_whole_and_wait_for_their_topic() -> None:
    windows = watching(100, 100)
    windows.fold(batch(Record(1)), NOW)
    windows.set_owners("g", {("t", 0): ("/host-1", "one"), ("t", 1): ("/host-2", "two")})
    first = owners(windows)

    windows.set_owners("g", {("t", 1): ("/host-1", "one"), ("later", 0): ("/host-1", "one")})
    second = owners(windows)
    windows.set_log_ends(log_ends(7, topic="later"), {"later": 1})

    assert first == [("/host-1", "one"), ("/host-2", "two")]
    assert second == [("", ""), ("/host-1", "one")]
    assert owners(windows, topic="later") == [("/host-1", "one")]


def test_a_group_known_by_its_owners_alone_is_not_shown() -> None:
    windows = watching(100)

    windows.set_owners("g", {("t", 0): ("/host", "client")})
    shown = window_arrays(windows).groups
    windows.fold(batch(Record(1)), NOW)

    assert shown == ()
    assert window_arrays(windows).groups == ("g",)
    assert owners(windows) == [("/host", "client")]


def test_names_of_clients_that_are_gone_do_not_pile_up() -> None:
    windows = watching(100)
    windows.fold(batch(Record(1)), NOW)

    for n in range(10_000):
        windows.set_owners("g", {("t", 0): ("/host", f"client-{n}")})

    assert owners(windows) == [("/host", "client-9999")]
    assert len(windows.owners.names) < 5000


def test_a_topic_deleted_and_made_again_starts_afresh() -> None:
    windows = watching(1000, 1000)
    windows.fold(batch(Record(1, offset=900), Record(2, group="h", offset=5, partition=1)), NOW)

    windows.delete_topic("t")
    gone = window_arrays(windows)
    windows.set_log_ends(log_ends(10), {"t": 1})
    windows.fold(batch(Record(3, offset=4)), NOW)

    assert (gone.groups, [topic for topic in gone.topics if topic]) == ((), [])
    assert window_arrays(windows).topics == ("t",)
    assert [(c.offset, c.lag) for c in detail(windows, "g")["t"][0].commits] == [(4, 6)]


def test_partitions_added_to_a_topic_join_the_groups_that_read_on() -> None:
    windows = watching(100)
    windows.fold(batch(Record(1, offset=1), Record(2, offset=2, group="h")), NOW)

    windows.set_log_ends(log_ends(100, 100, 100), {"t": 3})
    windows.fold(batch(Record(3, offset=3, partition=2)), NOW)

    assert offsets(windows) == {"t": [[1], [], [3]]}
    assert offsets(windows, "h") == {"t": [[2]]}


def test_rows_of_what_is_gone_are_used_again() -> None:
    partitions = 100
    windows = watching(*[1000] * partitions)

    for n in range(200):
        group = f"group-{n}"
        windows.fold(
            batch(*(Record(n, offset=p, partition=p, group=group) for p in range(partitions))), NOW
        )
        windows.delete_group(f"group-{n - 1}")

    assert windows.grid.size < 100 * partitions
    assert offsets(windows, "group-199") == {"t": [[p] for p in range(partitions)]}
