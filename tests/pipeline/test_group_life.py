"""Records about groups, from bytes to the board: times are the broker's, not those of reading."""

import pyarrow as pa
import pytest
from support import records
from support.batches import NOW, Record, batch, log_ends

from warren.config import Consumer, Storage
from warren.evaluate.judge import JudgeSettings
from warren.model.board import NO_END, StoredWindows
from warren.model.group_life import GroupLife, Kind, Subscribed
from warren.model.policies import Policy
from warren.model.tables import LOGGED_MS, RECORDS
from warren.model.window_arrays import WindowArrays
from warren.pipeline.cluster import Accepts, ClusterState, new_cluster
from warren.pipeline.consumers import LiveEvents, Sources, TopicConsumer
from warren.pipeline.steps import decoded, fold, judge_cluster
from warren.serve.board_file.commits_file import CommitsFile
from warren.sources.offsets_topic import Batch
from warren.windows.window_reader import edges_of, window_arrays

GROUP = records.group_key("g")


def store(_cluster: str, view: WindowArrays) -> StoredWindows:
    return CommitsFile().store(view)


def consumer_of(cluster: ClusterState) -> TopicConsumer:
    cluster.windows.set_log_ends(log_ends(9), {"t": 1})
    cluster.windows.fold(batch(Record(1, 5)), NOW)
    settings = Consumer(name="c", cluster="c", servers=("localhost:1",))
    return TopicConsumer(settings, cluster, Accepts())


def generation(number: int, *topics: str) -> bytes:
    member = records.ClassicMember("m", assigned={}, subscribed=topics)
    return records.group_value([member], generation=number)


def read(consumer: TopicConsumer, now: float, *written: tuple[bytes, bytes | None, int]) -> None:
    columns = [
        [key for key, _, _ in written],
        [value for _, value, _ in written],
        [0] * len(written),
        [*range(len(written))],
    ]
    arrays = [pa.array(c, kind) for c, kind in zip(columns, RECORDS.types, strict=True)]
    table = pa.table(arrays, schema=RECORDS)
    logged_ms = pa.array([at_ms for _, _, at_ms in written], pa.int64())
    whole = Batch(table.append_column(LOGGED_MS, logged_ms), {0: len(written)})
    fold(consumer, decoded(whole), now)


def life(cluster: ClusterState, now_s: int) -> GroupLife:
    board = judge_cluster(cluster, Sources(), JudgeSettings(), now_s, store)
    assert board.life is not None
    line = board.verdicts.line("g")
    assert line is not None
    return board.life


def test_a_rebalance_counts_when_the_broker_wrote_it_not_when_it_is_read() -> None:
    late, live = (consumer_of(new_cluster("c", Storage(name="default"))) for _ in range(2))
    written = [(GROUP, generation(n, "t"), (NOW - 600 + 10 * n) * 1000) for n in range(1, 60)]

    read(late, NOW, *written)
    for each in written:
        read(live, each[2] / 1000, each)

    found, expected = (life(each.cluster, NOW) for each in (late, live))
    assert found.generations_per_minute.tolist() == expected.generations_per_minute.tolist()
    assert found.generations_per_minute[-1] == pytest.approx(6 * (1 - 2.7**-3.3), rel=0.1)
    assert found.rebalanced_s[-1] == NOW - 10
    assert found.kind[-1] == Kind.CLASSIC
    assert found.is_subscribed[-1] == Subscribed.YES


@pytest.mark.parametrize("live_from", [1, 30, 59])
def test_a_backfill_counts_the_generations_before_the_live_ones(live_from: int) -> None:
    written = [(GROUP, generation(n, "t"), (NOW - 600 + 10 * n) * 1000) for n in range(1, 60)]
    whole, live = (consumer_of(new_cluster("c", Storage(name="default"))) for _ in range(2))
    live.live_events = LiveEvents()
    past = live.backfill()

    read(whole, NOW, *written)
    read(live, NOW, *written[live_from:])
    for each in written[:live_from]:
        read(past, NOW, each)

    found, expected = (life(each.cluster, NOW) for each in (live, whole))
    assert found.generations_per_minute[-1] == pytest.approx(expected.generations_per_minute[-1])
    assert found.rebalanced_s.tolist() == expected.rebalanced_s.tolist()
    assert found.generation.tolist() == expected.generation.tolist()


def test_a_broker_whose_clock_is_ahead_or_wrong_does_no_harm() -> None:
    consumer = consumer_of(new_cluster("c", Storage(name="default")))
    moments = (NOW + 86_400, -5, 2**62 // 1000, 0, NOW)

    for number, at_s in enumerate(moments, start=1):
        read(consumer, NOW, (GROUP, generation(number, "u"), at_s * 1000))

    found = life(consumer.cluster, NOW)
    assert 0 < found.generations_per_minute[-1] < len(moments)
    assert found.rebalanced_s[-1] == NOW
    assert found.is_subscribed[-1] == Subscribed.NO


def test_a_share_group_is_listed_and_a_broken_record_of_one_counted() -> None:
    consumer = consumer_of(new_cluster("c", Storage(name="default")))
    share = records.member_key("shares", "m", 10), records.share_member_value(["t"])

    read(consumer, NOW, (*share, NOW * 1000), (records.int16(11), b"\0\0", NOW * 1000))

    board = judge_cluster(consumer.cluster, Sources(), JudgeSettings(), NOW, store)
    assert board.others["shares"].topics == ("t",)
    assert consumer.skips.total == {"share group": 1}


@pytest.mark.parametrize(
    ("isolation", "stable"), [("", 7), ("read-committed", 7), ("read-uncommitted", NO_END)]
)
def test_a_group_that_reads_uncommitted_data_is_held_back_by_no_transaction(
    isolation: str, stable: int
) -> None:
    policies = [Policy("p", groups=("g",), isolation=isolation)]
    cluster = consumer_of(new_cluster("c", Storage(name="default"), policies)).cluster
    cluster.windows.ends.refresh_edges(log_ends(2), log_ends(7))
    view = window_arrays(cluster.windows)

    lines = cluster.policies.of_lines(cluster.windows, view)
    start, end = edges_of(cluster.windows, view, lines)

    assert (start.tolist(), end.tolist()) == ([2], [stable])


@pytest.mark.parametrize(
    ("isolation", "lags"),
    [("", (2, 2, 4)), ("read-committed", (2, 2, 2)), ("read-uncommitted", (4, 4, 4))],
)
def test_the_lag_ends_where_the_group_may_read(isolation: str, lags: tuple[int, int, int]) -> None:
    policies = [Policy("other", groups=("h",)), Policy("p", groups=("g",), isolation=isolation)]
    cluster = consumer_of(new_cluster("c", Storage(name="default"), policies)).cluster
    for now_s in (NOW + 10, NOW + 20):
        cluster.windows.set_log_ends(log_ends(9), {"t": 1}, now_s=now_s, asked_s=now_s - 0.1)
    cluster.windows.ends.refresh_edges(log_ends(2), log_ends(7))

    board = judge_cluster(cluster, Sources(), JudgeSettings(), NOW + 21, store)

    found = board.numbers.partitions
    assert (found.lag[0], found.lag_low[0], found.lag_high[0]) == lags
