from support.batches import NOW, Record, batch, log_ends

from warren.windows.replaced_topic import replace_topic
from warren.windows.window_reader import detail
from warren.windows.windows import Windows


def offsets(windows: Windows, group: str) -> dict[str, list[list[int]]]:
    return {
        topic: [[commit.offset for commit in part.commits] for part in parts]
        for topic, parts in detail(windows, group).items()
    }


def test_commits_heard_since_the_topic_was_last_the_old_one_are_its_successors() -> None:
    windows = Windows(intervals=3)
    windows.set_log_ends(log_ends(50, 50), {"t": 2})
    windows.set_log_ends(log_ends(9, topic="u"), {"t": 2, "u": 1})
    old = [Record(1, 40), Record(2, 45, partition=1), Record(3, 7, topic="u")]
    windows.fold(batch(*old, Record(4, 44, group="asleep")), NOW - 10)
    windows.fold(batch(Record(5, None), Record(6, 2), Record(7, 3)), NOW)

    replace_topic(windows, "t", NOW, NOW + 1)
    meanwhile = offsets(windows, "g")
    windows.set_log_ends(log_ends(8), {"t": 1, "u": 1})

    assert meanwhile == {"u": [[7]]}
    assert offsets(windows, "g") == {"t": [[2, 3]], "u": [[7]]}
    assert offsets(windows, "asleep") == {}
    assert [part.current_lag for part in detail(windows, "g")["t"]] == [5]


def test_owners_stay_until_their_group_says_more() -> None:
    windows = Windows(intervals=3)
    windows.set_log_ends(log_ends(50, 50), {"t": 2})
    windows.set_owners("g", {("t", 0): ("/host", "one"), ("t", 1): ("/host", "two")})
    windows.set_owners("left", {("t", 0): ("/host", "one")})
    windows.fold(batch(Record(1, 5), Record(2, 5, group="left")), NOW)

    replace_topic(windows, "t", NOW, NOW + 1)
    windows.set_log_ends(log_ends(8, 8), {"t": 2})
    made_anew = owners(windows)
    windows.delete_topic("t")
    windows.set_owners("left", {})
    windows.fold(batch(Record(3, 6), Record(4, 6, group="left")), NOW)
    windows.set_log_ends(log_ends(9, 9), {"t": 2})

    assert made_anew == [("/host", "one"), ("/host", "two")]
    assert owners(windows) == made_anew
    assert owners(windows, "left") == [("", ""), ("", "")]


def owners(windows: Windows, group: str = "g") -> list[tuple[str, str]]:
    return [(part.owner, part.client_id) for part in detail(windows, group)["t"]]


def test_a_name_that_is_no_text_survives() -> None:
    windows = Windows(intervals=3)
    windows.set_log_ends(log_ends(50), {"t": 1})
    commits = batch(Record(1, 4)).drop(["group"]).append_column("group", [[b"\xff"]])
    windows.fold(commits, NOW)

    replace_topic(windows, "t", NOW, NOW + 1)
    windows.set_log_ends(log_ends(8), {"t": 1})

    assert offsets(windows, "\udcff") == {"t": [[4]]}


def test_a_topic_nobody_reads_is_replaced_without_ado() -> None:
    windows = Windows(intervals=3)

    replace_topic(windows, "t", NOW, NOW)

    assert offsets(windows, "g") == {}
