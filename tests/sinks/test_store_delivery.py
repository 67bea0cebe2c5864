"""What becomes of points: taken, put off, refused."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pytest
from structlog.testing import capture_logs

from warren.errors import Undelivered
from warren.sinks import store_delivery as delivering
from warren.sinks.store_delivery import DeliveryStopped, Rejected, StoreAnswer, StoreDelivery

POINTS = [f"point {number}" for number in range(1000)]


@dataclass
class Store:
    """The far end: says no to a request with bad points, without saying which they are."""

    bad: set[str] = field(default_factory=set)
    is_certain: bool = False  # that points are bad, and not the request
    most: int = 10**6  # points of a request
    wrong_for: int = 0  # requests, whatever is in them
    held: list[str] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)  # how many points came with each request

    def post(self, lines: pa.Array) -> StoreAnswer:
        self.asked.append(len(lines))
        if len(self.asked) <= self.wrong_for:
            return StoreAnswer(objection="which organisation?")
        if len(lines) > self.most:
            return StoreAnswer(objection="too large", is_too_large=True)
        texts = lines.to_pylist()
        self.held += [text for text in texts if text not in self.bad]
        is_bad = bool(self.bad & set(texts))
        return (
            StoreAnswer(objection="bad 'point'", is_about_points=self.is_certain)
            if is_bad
            else StoreAnswer()
        )


@pytest.fixture
def delivery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StoreDelivery:
    monkeypatch.setattr(delivering, "FIRST_PAUSE_S", 0.01)
    return StoreDelivery("x", Rejected("x", tmp_path / "deep" / "x.jsonl"))


def parked(delivery: StoreDelivery) -> list[dict[str, str]]:
    if not delivery.rejected.file.exists():
        return []
    return [json.loads(line) for line in delivery.rejected.file.read_text().splitlines()]


def test_the_bad_ones_among_many_are_found_and_parked(delivery: StoreDelivery) -> None:
    store = Store({"point 17", "point 801"})

    delivery.send(pa.array(POINTS), store.post)

    assert set(store.held) == set(POINTS) - store.bad
    assert [entry["point"] for entry in parked(delivery)] == ["point 17", "point 801"]
    assert delivery.outcomes["sent"] == 998
    assert delivery.outcomes["rejected"] == 2
    assert dict(delivery.rejected.reasons) == {"bad …": 2}


def test_many_bad_ones_cost_no_good_one(delivery: StoreDelivery) -> None:
    store = Store({*POINTS[::3]})

    delivery.send(pa.array(POINTS), store.post)

    assert set(store.held) == set(POINTS) - store.bad
    assert {entry["point"] for entry in parked(delivery)} == store.bad
    assert delivery.outcomes["sent"] + delivery.outcomes["rejected"] == len(POINTS)
    assert len(store.asked) < 2 * len(POINTS)


def test_points_that_are_bad_for_certain_are_parked_even_if_all_are(
    delivery: StoreDelivery,
) -> None:
    store = Store({*POINTS}, is_certain=True)

    delivery.send(pa.array(POINTS[:5]), store.post)

    assert [entry["point"] for entry in parked(delivery)] == POINTS[:5]


def test_a_store_that_takes_nothing_for_one_reason_is_waited_for(delivery: StoreDelivery) -> None:
    rounds = 3
    store = Store(wrong_for=rounds * (1 + delivering.PROBES))

    with capture_logs() as logged:
        delivery.send(pa.array(POINTS), store.post)

    assert store.held == POINTS
    assert parked(delivery) == []
    assert delivery.outcomes == {"sent": 1000, "retried": 1000, "failed": 3000, "rejected": 0}
    assert [line.get("problem") for line in logged] == [
        "no point is accepted: which organisation?",
        None,  # the sink accepts points again
    ]


def test_a_store_that_takes_few_at_a_time_gets_few_at_a_time(delivery: StoreDelivery) -> None:
    store = Store(most=130)

    for _ in range(2):
        delivery.send(pa.array(POINTS), store.post)

    assert store.held == POINTS * 2
    assert parked(delivery) == []
    assert max(store.asked[-8:]) <= 130  # it is remembered


def test_what_is_put_off_comes_again_without_the_rest(delivery: StoreDelivery) -> None:
    asked: list[list[str]] = []

    def post(lines: pa.Array) -> StoreAnswer:
        asked.append(lines.to_pylist())
        return (
            StoreAnswer(refused=[(0, "no")], retry=[2], problem="busy")
            if len(lines) > 1
            else StoreAnswer()
        )

    delivery.send(pa.array(["a", "b", "c"]), post)

    assert asked == [["a", "b", "c"], ["c"]]
    assert [entry["point"] for entry in parked(delivery)] == ["a"]
    assert delivery.outcomes == {"sent": 2, "retried": 1, "failed": 1, "rejected": 1}
    assert delivery.problem == ""


def test_a_store_that_puts_off_is_asked_less_and_less_often(delivery: StoreDelivery) -> None:
    pauses: list[float | None] = []

    class Patient(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            pauses.append(timeout)
            return False

    delivery.stop = Patient()
    busy = iter(range(5))
    with capture_logs() as logged:
        delivery.send(
            pa.array(["a", "b"]),
            lambda _: next(
                (StoreAnswer(retry=[0], problem=f"busy [{number}]") for number in busy),
                StoreAnswer(),
            ),
        )

    assert pauses == [delivering.FIRST_PAUSE_S * 2**number for number in range(5)]
    assert [line["event"] for line in logged] == [
        "the sink does not accept points; retrying",
        "the sink accepts points again",
    ]


def failing(times: int) -> Callable[[], str]:
    left = iter(range(times))

    def attempt() -> str:
        for _ in left:
            raise Undelivered("down")
        return "done"

    return attempt


def test_a_store_that_is_down_is_waited_for(delivery: StoreDelivery) -> None:
    answer = delivery.retry(failing(3), 10)

    assert answer == "done"
    assert delivery.outcomes["failed"] == 30
    assert delivery.outcomes["retried"] == 10
    assert delivery.problem == ""


def test_who_waits_can_be_stopped(delivery: StoreDelivery) -> None:
    threading.Timer(0.2, delivery.stop.set).start()

    with pytest.raises(DeliveryStopped):
        delivery.retry(failing(10_000), 1)

    assert delivery.problem == "down"


def test_the_file_of_rejected_points_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warren.sinks.store_delivery.FILE_BYTES", 1000)
    rejected = Rejected("x", tmp_path / "x.jsonl")

    for number in range(100):
        rejected.park([(f"{number}", f"reason {number} of {'abc'[number % 3]}")])

    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 3000
    assert sorted(file.name for file in tmp_path.iterdir()) == ["x.jsonl", "x.jsonl.1"]
    assert rejected.reasons == {"reason … of a": 34, "reason … of b": 33, "reason … of c": 33}
