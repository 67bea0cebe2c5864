"""Where groups were when their offsets were forgotten, and who begins afresh."""

import numpy as np
from support.batches import NOW, Record, batch, log_ends

from warren.model.group_events import ClassicGroup, ClassicMember, GroupDeleted, Protocol
from warren.windows import snapshot_arrays
from warren.windows.forgotten import MOST, Forgotten
from warren.windows.group_members import Membership
from warren.windows.windows import Windows

DAY_S = 86_400
KEY = ("g", "orders", 0)


def windows(high: int = 0) -> Windows:
    """One group that has committed offset 7; a tick has noted that."""
    made = Windows()
    made.set_log_ends(log_ends(9, 9, topic="orders"), {"orders": 2})
    if high:
        made.fold(batch(Record(1, high, group="g", topic="orders")), NOW)
        made.grid.memory.high[row_of(made)] = high
        made.grid.memory.known_ms[row_of(made)] = NOW * 1000
    return made


def forget(made: Windows) -> None:
    made.fold(batch(Record(2, None, group="g", topic="orders")), NOW)


def row_of(made: Windows) -> int:
    return int(made.pairs.blocks.base[made.pairs.find("g", made.ends.topics.find("orders"))])


def test_who_commits_again_was_somewhere_before() -> None:
    made = windows(high=7)

    forget(made)
    noted = len(made.forgotten)
    made.fold(batch(Record(3, 1, group="g", topic="orders")), NOW)

    assert noted == 1
    assert made.grid.memory.high[row_of(made)] == 7
    assert len(made.forgotten) == 0


def test_heights_outlast_a_restart() -> None:
    made, again = windows(high=7), windows()
    forget(made)

    names, columns = snapshot_arrays.copy(made, snapshot_arrays.allocate(made))
    restored = Windows()
    snapshot_arrays.restore(restored, names, snapshot_arrays.arrange(columns))
    snapshot_arrays.release(made)

    assert restored.forgotten.saved() == made.forgotten.saved() == [("g", "orders", {0: 7})]
    assert again.forgotten.saved() == []


def test_what_is_deleted_begins_afresh() -> None:
    of_group, of_topic = windows(high=7), windows(high=7)
    for made in (of_group, of_topic):
        forget(made)

    of_group.delete_group("g")
    of_topic.delete_topic("orders")

    assert len(of_group.forgotten) == len(of_topic.forgotten) == 0


def test_brokers_delete_empty_groups_by_themselves_after_a_while() -> None:
    """Otherwise somebody has done it."""
    member = ClassicMember("m", "", "c", "/h", {})
    gone = GroupDeleted("g", Protocol.CLASSIC)
    cases = {
        "never empty": ([ClassicGroup("g", 1, (member,))], 7 * DAY_S, ["g"]),
        "empty for a day": ([ClassicGroup("g", 2, ())], 7 * DAY_S, ["g"]),
        "empty for long enough": ([ClassicGroup("g", 2, ())], DAY_S, []),
        "nobody knows how long": ([ClassicGroup("g", 2, ())], None, ["g"]),
        "not known": ([], DAY_S, ["g"]),
    }
    wrong = {}
    for name, (events, kept_s, right) in cases.items():
        membership = Membership()
        membership.fold(events, [NOW] * len(events))
        found = membership.to_be_deleted([gone], [NOW + DAY_S + 60.0], kept_s)
        if found != right:
            wrong[name] = found

    assert wrong == {}


def test_only_so_many_are_remembered() -> None:
    kept = Forgotten()

    for number in range(12):
        keys = ((f"g{number}", "orders", each) for each in range(10_000))
        kept.note(keys, np.full(10_000, 5))

    assert len(kept) == MOST
    assert kept.take(("g11", "orders", 3)) == 5
    assert kept.take(("g0", "orders", 3)) == kept.take(KEY) == 0
