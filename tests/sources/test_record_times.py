"""How old records are by their timestamps: searched on a real broker, and in made-up logs."""

import time
from bisect import bisect_left

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from hypothesis import given
from hypothesis import strategies as st
from support.kafka_clients import Kafka

from warren.demo.broker import Broker
from warren.sources import log_ends
from warren.sources.log_ends import NO_SUCH_RECORD, Found
from warren.sources.record_times import OLDEST_MS, STEPS, WIDTH, YOUNGEST_MS, Times, fetch_times

NOW_MS = 1_800_000_000_000
HOUR_MS = 3_600_000
YEAR_MS = 365 * 24 * HOUR_MS


@pytest.fixture(scope="module")
def kafka(broker: Broker) -> Kafka:
    return Kafka(broker.bootstrap)


def write(kafka: Kafka, topic: str, *timestamps: list[int]) -> None:
    """For each partition, records of these times."""
    kafka.make_topic(topic, *[0] * len(timestamps))
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "log_level": 0})
    for partition, moments in enumerate(timestamps):
        for moment in moments:
            producer.produce(topic, b"a record", partition=partition, timestamp=moment)
    assert producer.flush(60) == 0


def test_one_search_finds_the_times_of_many_partitions(kafka: Kafka) -> None:
    now_ms = int(time.time() * 1000)
    steady = [now_ms - (50 - number) * HOUR_MS for number in range(50)]
    ahead = [now_ms + HOUR_MS // 4 * (1 + number) for number in range(3)]  # brokers take an hour
    gone, backward = [1, 2, 3], [now_ms - HOUR_MS, now_ms - 9 * HOUR_MS, now_ms - HOUR_MS]
    write(kafka, "times", steady, ahead, gone, backward)
    leaders = log_ends.list_topics(kafka.admin).leaders_of("times")
    offsets = {("times", 0): 20, ("times", 1): 1, ("times", 2): 1, ("times", 3): 2}

    times = fetch_times(kafka.admin, leaders, offsets, now_ms, 30)

    found, true_ms = times["times", 0], steady[20]
    assert found.earliest_ms <= true_ms <= found.latest_ms
    assert now_ms - found.earliest_ms <= WIDTH * (now_ms - found.latest_ms)
    assert times["times", 1].earliest_ms >= now_ms - YOUNGEST_MS  # no older than now
    assert times["times", 2] == Times()  # older than anything can be: no time at all
    assert times.keys() == offsets.keys()


def test_a_partition_without_an_answer_has_no_time(kafka: Kafka) -> None:
    written_ms = int(time.time() * 1000) - HOUR_MS
    write(kafka, "times-of-some", [written_ms])
    leader = log_ends.list_topics(kafka.admin).leaders["times-of-some", 0]
    offsets = {("times-of-some", 0): 0, ("no-such-topic", 0): 0, ("without-leader", 0): 0}
    leaders = {("times-of-some", 0): leader, ("no-such-topic", 0): leader}

    times = fetch_times(kafka.admin, leaders, offsets, written_ms + HOUR_MS, 30)

    assert times == {("times-of-some", 0): Times(written_ms, written_ms)}


def test_brokers_that_do_not_answer_have_no_times() -> None:
    admin = AdminClient({"bootstrap.servers": "127.0.0.1:1", "log_level": 0})

    assert fetch_times(admin, {("t", 0): 1}, {("t", 0): 5}, NOW_MS, 1) == {}


@given(
    ages=st.lists(st.integers(0, 2 * OLDEST_MS), min_size=1, max_size=30),
    at=st.integers(0, 29),
)
def test_the_search_ends_in_time_and_never_excludes_the_truth(ages: list[int], at: int) -> None:
    moments = [NOW_MS - age for age in sorted(ages, reverse=True)]
    offset = min(at, len(moments) - 1)
    times, steps = Times(), 0

    while not times.is_narrow(NOW_MS):
        moment = times.middle_ms(NOW_MS)
        first = bisect_left(moments, moment)
        is_there = first < len(moments)
        found = Found(first, moments[first]) if is_there else Found(NO_SUCH_RECORD, -1)
        times = times.narrowed(offset, moment, found)
        steps += 1
        assert steps <= STEPS

    assert times.earliest_ms <= moments[offset] <= times.latest_ms


@given(
    answers=st.lists(st.tuples(st.integers(-1, 9), st.integers(-(2**62), 2**62)), min_size=STEPS)
)
def test_no_answer_makes_the_search_fail_or_the_bounds_cross(
    answers: list[tuple[int, int]],
) -> None:
    """Timestamps are producers': in the future, before 1970, and in any order."""
    times = Times()

    for answer in answers:
        if times.is_narrow(NOW_MS):
            return
        times = times.narrowed(5, times.middle_ms(NOW_MS), Found(*answer))
        assert times.earliest_ms <= times.latest_ms
