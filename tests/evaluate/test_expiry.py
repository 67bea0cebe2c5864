"""When brokers forget the offsets of a group: kept for 600 s, and it is second 1000."""

from math import inf, nan
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.batches import NOW, Record, batch, log_ends

from warren.evaluate.expiry import expires_s
from warren.model.group_life import GroupLife, Kind, Subscribed
from warren.windows.precedence import outside_order
from warren.windows.window_reader import window_arrays
from warren.windows.windows import Windows

KEPT_S, NOW_S = 600, NOW + 1000
YES, NO, UNKNOWN = Subscribed.YES, Subscribed.NO, Subscribed.UNKNOWN
CLASSIC, CONSUMER, STREAMS = Kind.CLASSIC, Kind.CONSUMER, Kind.STREAMS
NO_RECORDS = Kind.NO_RECORDS


class Case(NamedTuple):
    """A group with a commit at second 700 of one topic, and at second 900 of another."""

    kind: Kind
    members: int
    expected: float
    empty_since: float = 0  # second
    subscribed: tuple[Subscribed, Subscribed] = (UNKNOWN, UNKNOWN)
    first_order: int = 1


CASES = {
    "classic, with members": Case(CLASSIC, 2, inf, subscribed=(YES, YES)),
    "classic, of which we do not know what they read": Case(CLASSIC, 2, inf),
    "classic, has left a topic": Case(CLASSIC, 2, 300, subscribed=(NO, YES)),
    "classic, has left the other": Case(CLASSIC, 2, 500, subscribed=(YES, NO)),
    "classic, empty": Case(CLASSIC, 0, 550, empty_since=950),
    "classic, empty since before its commits": Case(CLASSIC, 0, 50, empty_since=450),
    "classic, empty for too long": Case(CLASSIC, 0, 0, empty_since=100),
    "classic, a broker's clock is ahead": Case(CLASSIC, 0, 700, empty_since=1100),
    "classic, nothing is known of when it became empty": Case(CLASSIC, 0, nan),
    "KIP-848, with members": Case(CONSUMER, 2, inf, subscribed=(YES, YES)),
    "KIP-848, has left a topic": Case(CONSUMER, 2, 300, subscribed=(NO, YES)),
    "KIP-848, empty": Case(CONSUMER, 0, 300, empty_since=950),
    "streams, with members": Case(STREAMS, 1, inf, subscribed=(YES, YES)),
    "streams, empty": Case(STREAMS, 0, 300, empty_since=950),
    "assign() only": Case(NO_RECORDS, 0, 300),
    "assign() only, the first commit is from outside": Case(
        NO_RECORDS, 0, 500, first_order=outside_order(1)
    ),
}


def expiries(
    cases: dict[str, Case], kept_s: float | None = KEPT_S, *, are_members_known: bool = True
) -> dict[str, float]:
    windows, names = Windows(), sorted(cases)
    for topic in "ab":
        windows.set_log_ends(log_ends(9, topic=topic), {topic: 1}, now_s=NOW)
    for name in names:
        first = Record(cases[name].first_order, 5, 700_000, group=name, topic="a")
        windows.fold(batch(first, Record(1, 5, 900_000, group=name, topic="b")), NOW)
    given = [cases[name] for name in names]
    columns: dict[str, Any] = dict.fromkeys(GroupLife.__dataclass_fields__, np.zeros(len(names)))
    columns |= {
        "kind": np.array([each.kind for each in given], np.uint8),
        "member_count": np.array([each.members for each in given]),
        "empty_since_s": np.array(
            [NOW + each.empty_since if each.empty_since else 0 for each in given]
        ),
        "is_subscribed": np.array([each for case in given for each in case.subscribed], np.uint8),
    }
    view, life = window_arrays(windows), GroupLife(**columns)
    found = expires_s(view, life, kept_s, NOW_S, are_members_known=are_members_known)
    return dict(zip(names, found.tolist(), strict=True))


def test_offsets_expire_as_the_group_coordinator_does_it() -> None:
    expected = {name: case.expected for name, case in CASES.items()}

    assert expiries(CASES) == pytest.approx(expected, nan_ok=True)


def test_only_groups_with_members_are_safe_when_it_is_not_known_how_long_offsets_stay() -> None:
    found = expiries(CASES, None)

    assert {found[name] for name, case in CASES.items() if case.members} == {inf}
    assert all(np.isnan(found[name]) for name, case in CASES.items() if not case.members)


def test_a_group_whose_records_may_be_unread_does_not_count_as_one_without_members() -> None:
    found = expiries(CASES, are_members_known=False)

    assert np.isnan(found["assign() only"])
    assert found["KIP-848, empty"] == 300


def test_no_group_is_no_trouble() -> None:
    columns: dict[str, Any] = dict.fromkeys(GroupLife.__dataclass_fields__, np.zeros(0))

    assert len(expires_s(window_arrays(Windows()), GroupLife(**columns), KEPT_S, NOW_S)) == 0
