"""What becomes of points: taken, put off, refused."""

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from warren.errors import Undelivered
from warren.sinks import delivery as delivering
from warren.sinks.delivery import Answer, Delivery, Stopped
from warren.sinks.rejected import Rejected

POINTS = [f"point {number}" for number in range(1000)]


class Store:
    """The far end: says no to points that are bad, without saying which."""

    def __init__(self, *bad: str) -> None:
        self.bad = set(bad)
        self.held: list[str] = []
        self.requests = 0

    def post(self, lines: pa.Array) -> Answer:
        self.requests += 1
        texts = lines.to_pylist()
        self.held += [text for text in texts if text not in self.bad]
        return Answer(doubt="bad 'point'") if self.bad & set(texts) else Answer()


@pytest.fixture
def delivery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Delivery:
    monkeypatch.setattr(delivering, "FIRST_PAUSE_S", 0.01)
    return Delivery("x", Rejected("x", tmp_path / "deep" / "x.jsonl"))


def parked(delivery: Delivery) -> list[dict[str, str]]:
    if not delivery.rejected.file.exists():
        return []
    return [json.loads(line) for line in delivery.rejected.file.read_text().splitlines()]


def test_the_bad_ones_among_many_are_found_and_parked(delivery: Delivery) -> None:
    store = Store("point 17", "point 801")

    delivery.send(pa.array(POINTS), store.post)

    assert set(store.held) == set(POINTS) - store.bad
    assert [entry["point"] for entry in parked(delivery)] == ["point 17", "point 801"]
    assert delivery.outcomes["sent"] == 998
    assert delivery.outcomes["rejected"] == 2
    assert dict(delivery.rejected.reasons) == {"bad …": 2}


def test_a_store_that_wants_nothing_is_not_asked_for_ever(delivery: Delivery) -> None:
    store = Store(*POINTS)

    delivery.send(pa.array(POINTS), store.post)

    assert store.requests <= 2 * delivering.SPLITS + 1
    assert {entry["point"] for entry in parked(delivery)} == set(POINTS)
    assert delivery.outcomes["rejected"] == 1000


def test_what_is_put_off_comes_again_without_the_rest(delivery: Delivery) -> None:
    asked: list[list[str]] = []

    def post(lines: pa.Array) -> Answer:
        asked.append(lines.to_pylist())
        return (
            Answer(refused=[(0, "no")], again=[2], problem="busy") if len(lines) > 1 else Answer()
        )

    delivery.send(pa.array(["a", "b", "c"]), post)

    assert asked == [["a", "b", "c"], ["c"]]
    assert [entry["point"] for entry in parked(delivery)] == ["a"]
    assert delivery.outcomes["sent"] == 2
    assert delivery.problem == ""


def failing(times: int) -> Callable[[], str]:
    left = iter(range(times))

    def attempt() -> str:
        for _ in left:
            raise Undelivered("down")
        return "done"

    return attempt


def test_a_store_that_is_down_is_waited_for(delivery: Delivery) -> None:
    answer = delivery.patiently(failing(3), 10)

    assert answer == "done"
    assert delivery.outcomes["failed"] == 30
    assert delivery.outcomes["retried"] == 10
    assert delivery.problem == ""


def test_who_waits_can_be_stopped(delivery: Delivery) -> None:
    threading.Timer(0.2, delivery.stop.set).start()

    with pytest.raises(Stopped):
        delivery.patiently(failing(10_000), 1)

    assert delivery.problem == "down"


def test_the_file_of_rejected_points_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warren.sinks.rejected.FILE_BYTES", 1000)
    rejected = Rejected("x", tmp_path / "x.jsonl")

    for number in range(100):
        rejected.park([(f"{number}", f"reason {number} of {'abc'[number % 3]}")])

    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 3000
    assert sorted(file.name for file in tmp_path.iterdir()) == ["x.jsonl", "x.jsonl.1"]
    assert rejected.reasons == {"reason … of a": 34, "reason … of b": 33, "reason … of c": 33}
