"""How long answers wait while the pipeline needs the processor."""

import time

import pytest

from warren.serve.http.site import SLICE_S, AnswerPace


def work(seconds: float) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def test_who_asks_for_little_does_not_wait() -> None:
    pace = AnswerPace(share=1000)

    assert [pace.pause(now) for now in (100.0, 100.001, 100.002)] == [0, 0, 0]


def test_when_a_slice_is_used_up_the_next_is_waited_for() -> None:
    pace = AnswerPace(share=0.1)
    pace.pause(100.0)
    work(SLICE_S * 0.1)

    waits = [pace.pause(100.0), pace.pause(100.0 + SLICE_S * 2)]

    assert waits == [pytest.approx(SLICE_S), 0]
