"""No verdict comes from our own delay: what is read late is judged as of when it was written.

A broker, its clients and their clock are written down as a story; windows, log ends, progress and
rules are the real ones. The story is read at once, and again with every kind of delay.
"""

from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from support.batches import log_ends

from warren.config import Consumer, Storage
from warren.evaluate.judge import JudgeSettings
from warren.model.board import SharedFile, StoredWindows
from warren.model.status import Status
from warren.model.tables import DECODED
from warren.pipeline.cluster import Accepts, ClusterState, new_cluster
from warren.pipeline.consumers import LiveEvents, Sources, TopicConsumer
from warren.pipeline.steps import fold, judge_cluster
from warren.sources.group_offsets import OFFSETS_TOPIC, partition_of
from warren.sources.log_ends import TopicListing
from warren.sources.offsets_topic import Batch

BEGIN_S = 1_700_000_000
PARTITIONS = 2  # of the offsets topic
RATE = 10  # records a second that the topic grows by
STOPS_S, GOES_ON_S = 180, 310  # of one group
LASTS_S = 480
ALL_THERE_S = 20  # by when every group has committed
REFRESH_S = 10  # between two readings of the log ends, usually
STOPS = "stops for a while"
GROUPS = {
    "every second": 1,
    "every five": 5,
    STOPS: 1,
    "every twenty": 20,
}


class Story:
    """What the broker holds at any moment."""

    def __init__(self) -> None:
        self.records: list[list[dict[str, object]]] = [[] for _ in range(LASTS_S)]  # by second
        self.ends: list[dict[int, int]] = []  # of the offsets topic, after each second
        order = dict.fromkeys(range(PARTITIONS), 0)
        for second in range(LASTS_S):
            for group, every in GROUPS.items():
                pauses = group == STOPS and STOPS_S <= second < GOES_ON_S
                if second % every == 0 and not pauses:
                    place = partition_of(group, PARTITIONS)
                    self.records[second].append(_commit(group, second, place, order[place]))
                    order[place] += 1
            self.ends.append(dict(order))


def _commit(group: str, second: int, place: int, order: int) -> dict[str, object]:
    return {
        "log_partition": place,
        "order": order,
        "group": group,
        "topic": "t",
        "partition": 0,
        "offset": second * RATE,
        "committed_ms": (BEGIN_S + second) * 1000,
    }


STORY = Story()


class Reader:
    """Reads a story, each second of it as late as told."""

    def __init__(
        self,
        offsets_topic: str = OFFSETS_TOPIC,
        *,
        refresh_s: int = REFRESH_S,
        expire_s: int = 604_800,
    ) -> None:
        self.second = self.read = 0
        self.refresh_s = refresh_s
        self.away: set[int] = set()  # partitions of the offsets topic without a leader
        storage = Storage(name="default", expire_group=expire_s)
        self.cluster: ClusterState = new_cluster("c", storage)
        self.cluster.topics = TopicListing({"t": 1, offsets_topic: PARTITIONS}, {}, {})
        settings = Consumer(
            name="c", cluster="c", servers=("nowhere:9092",), offsets_topic=offsets_topic
        )
        self.topic_consumer = TopicConsumer(settings, self.cluster, Accepts())
        self.topic_consumer.notice_growth()
        self.topic_consumer.progress.begin(dict.fromkeys(range(PARTITIONS), 0), BEGIN_S)

    def live(self, delay_s: int) -> None:
        """A second passes, after which all is read that is older than the delay."""
        self.second += 1
        now = BEGIN_S + self.second
        if (self.second - 1) % self.refresh_s == 0:
            ends = log_ends(self.second * RATE)
            self.cluster.windows.set_log_ends(ends, {"t": 1}, now_s=now)
        progress = self.topic_consumer.progress
        ends = {each: at for each, at in STORY.ends[self.second].items() if each not in self.away}
        progress.see_ends(ends, ends, now, dict(progress.position))
        until = max(self.second - delay_s, self.read)
        self.fold(self.topic_consumer, self.read, until)
        self.read = until

    def fold(self, topic_consumer: TopicConsumer, since: int, until: int) -> None:
        rows = [row for second in STORY.records[since + 1 : until + 1] for row in second]
        rows = [row for row in rows if row["log_partition"] not in self.away]
        positions = {each: at for each, at in STORY.ends[until].items() if each not in self.away}
        if rows:
            table = pa.Table.from_pylist(rows, DECODED)
            fold(topic_consumer, Batch(table, positions), BEGIN_S + self.second)

    def verdicts(self) -> dict[str, tuple[int, Status, int]]:
        """By group: as of when it is judged, what it is, its lag."""
        sources = Sources([self.topic_consumer])
        board = judge_cluster(
            self.cluster, sources, JudgeSettings(), BEGIN_S + self.second, lambda *_: _nothing()
        )
        judged = board.verdicts
        return {
            name: (
                int(judged.groups.as_of_ms[at]) // 1000 - BEGIN_S,
                Status(judged.groups.status[at]),
                int(judged.groups.total_lag[at]),
            )
            for at, name in enumerate(judged.names)
            if not name.startswith("burrow-")
        }


def _nothing() -> StoredWindows:
    return StoredWindows(SharedFile(), 10, np.zeros(0, np.int32))


@cache
def read_with(
    delay: str, refresh_s: int = REFRESH_S
) -> dict[tuple[str, int], set[tuple[Status, int]]]:
    """What was said of each group about each moment."""
    reader, delay_s, delay_of = Reader(refresh_s=refresh_s), 0, DELAYS[delay]
    said: dict[tuple[str, int], set[tuple[Status, int]]] = {}
    while reader.second < LASTS_S - 1:
        delay_s = delay_of.get(reader.second, delay_s)
        reader.live(delay_s)
        for group, (as_of, status, lag) in reader.verdicts().items():
            said.setdefault((group, as_of), set()).add((status, lag))
    return said


DELAYS = {  # from a second on, the delay
    "none": {},
    "one second": {0: 1},
    "twelve seconds, for a while": {100: 12, 200: 0},
    "a minute": {0: 60},
    "held for five minutes": {130: 300, 430: 0},
    "five minutes all the time": {0: 300},
    "in fits": {second: (second * 7) % 41 for second in range(0, LASTS_S, 13)},
}


@pytest.mark.parametrize("refresh_s", [1, 2, REFRESH_S])
def test_delay_changes_no_verdict_and_no_lag(refresh_s: int) -> None:
    at_once = read_with("none", refresh_s)

    long = [delay for delay in DELAYS if "minute" in delay]

    wrong = [
        (delay, *about, said, at_once[about])
        for delay in (DELAYS if refresh_s == REFRESH_S else long)
        for about, said in read_with(delay, refresh_s).items()
        if about[1] >= ALL_THERE_S and said != at_once[about]
    ]

    assert wrong == []


def test_what_stopped_is_told_and_nothing_else() -> None:
    bad = {
        (delay, *about)
        for delay in DELAYS
        for about, said in read_with(delay).items()
        if max(said)[0] > Status.OK
    }

    assert {group for _, group, _ in bad} == {STOPS}
    assert {delay for delay, _, _ in bad} == {each for each in DELAYS if "five minutes" not in each}
    assert all(STOPS_S < as_of < GOES_ON_S for _, _, as_of in bad)


def test_a_group_that_keeps_up_has_no_lag_however_late_it_is_read() -> None:
    seen = {
        lag
        for delay in DELAYS
        for (group, _), said in read_with(delay).items()
        for _, lag in said
        if group == "every second"
    }

    assert seen == {0}


def test_a_group_does_not_expire_because_it_is_read_late() -> None:
    at_once, late = (lost_groups(Reader(expire_s=100), held_s) for held_s in (0, 300))

    assert at_once == {STOPS}  # it is silent for longer than that
    assert late <= {STOPS}


def lost_groups(reader: Reader, held_s: int) -> set[str]:
    lost = set()
    while reader.second < 470:
        reader.live(held_s if 130 <= reader.second < 430 else 0)
        lost |= {*GROUPS} - reader.verdicts().keys() if reader.second > ALL_THERE_S else set()
    return lost


def test_a_past_that_is_half_read_makes_nobody_stop() -> None:
    reader, begun = Reader(), 400
    reader.second = reader.read = begun
    reader.topic_consumer.live_events = LiveEvents()
    reader.topic_consumer.progress.begin(STORY.ends[begun], BEGIN_S + begun)
    reader.live(0)
    past = reader.topic_consumer.backfill()

    reader.fold(past, 0, begun // 2)
    half = reader.verdicts()
    reader.fold(past, begun // 2, begun)
    reader.topic_consumer.live_events = None
    whole = reader.verdicts()

    assert {status for _, status, _ in half.values()} == {Status.OK}
    assert {group: status for group, (_, status, _) in whole.items()} == dict.fromkeys(
        GROUPS, Status.OK
    )
    assert {as_of for as_of, _, _ in whole.values()} == {begun + 1}


@pytest.mark.parametrize("kind", ["plain", "copy", "grown"])
def test_a_partition_without_a_leader_costs_its_own_groups_only(kind: str) -> None:
    reader = Reader(offsets_topic="copied" if kind == "copy" else OFFSETS_TOPIC)
    while reader.second < 100:
        reader.live(0)
    if kind == "grown":  # and the new partition has no leader
        reader.cluster.topics = TopicListing({"t": 1, OFFSETS_TOPIC: PARTITIONS + 1}, {}, {})
    away = partition_of("every five", PARTITIONS)
    reader.away = {away}
    while reader.second < 290:
        reader.live(0)

    seen = {group: as_of for group, (as_of, _, _) in reader.verdicts().items()}
    status = {group: status for group, (_, status, _) in reader.verdicts().items()}
    stays = {group for group in GROUPS if partition_of(group, PARTITIONS) != away}
    if kind == "grown":
        stays -= {group for group in stays if partition_of(group, PARTITIONS + 1) == PARTITIONS}
    assert {seen[group] for group in stays} == {290}
    assert {group for group in GROUPS if seen[group] <= 100} == GROUPS.keys() - stays
    assert {group for group in GROUPS if status[group] > Status.OK} == {STOPS} & stays
