"""Makes the health of clusters and consumers from their state."""

from collections.abc import Mapping
from contextlib import ExitStack

from warren.model.board import ClusterBoard
from warren.model.health import LEFT_OUT, ClusterHealth, ConsumerHealth, ConsumerState, Health
from warren.pipeline.cluster import ClusterState
from warren.pipeline.consumers import TopicConsumer
from warren.pipeline.outside_consumer import OutsideConsumer


def is_ready(
    topic_consumers: Mapping[str, TopicConsumer], outside_consumers: Mapping[str, OutsideConsumer]
) -> bool:
    """Whether all has been read once. Ask before judging: what is read meanwhile is not judged."""
    return all(each.progress.has_caught_up for each in topic_consumers.values()) and all(
        each.is_caught_up for each in outside_consumers.values()
    )


def describe(  # noqa: PLR0913  all that health is made from
    clusters: Mapping[str, ClusterState],
    topic_consumers: Mapping[str, TopicConsumer],
    outside_consumers: Mapping[str, OutsideConsumer],
    judged: Mapping[str, ClusterBoard],
    now: float,
    *,
    ready: bool,
) -> Health:
    """Positions are of what was judged; by now there are more."""
    with ExitStack() as locks:
        for cluster in clusters.values():
            locks.enter_context(cluster.lock)
        return Health(
            ready=ready,
            clusters={name: _cluster(cluster, now) for name, cluster in clusters.items()},
            consumers={
                name: _topic_consumer(each, judged[each.cluster.name].positions.get(name, {}), now)
                for name, each in topic_consumers.items()
            }
            | {name: _outside_consumer(each, now) for name, each in outside_consumers.items()},
        )


def _cluster(cluster: ClusterState, now: float) -> ClusterHealth:
    return ClusterHealth(
        problem=cluster.problem,
        silent_brokers=cluster.silent_brokers,
        restarts=cluster.restarts,
        data_age_s=_age_s(cluster, now),
        restored=bool(cluster.restored_s),
        leaderless=cluster.topics.leaderless if cluster.topics else None,
        without_log_end=len(cluster.missing),
        waiting_for_log_end=len(cluster.windows.waiting),
        dropped=dict(cluster.windows.dropped),
    )


def _age_s(cluster: ClusterState, now: float) -> float | None:
    """How old the verdicts' data are: those of a snapshot until it has been caught up with."""
    as_of = cluster.restored_s or cluster.ends_s
    return round(max(now - as_of, 0), 3) if as_of else None


def _topic_consumer(
    topic_consumer: TopicConsumer, positions: Mapping[int, int], now: float
) -> ConsumerHealth:
    progress = topic_consumer.progress
    lag = {
        str(partition): max(end - progress.position.get(partition, 0), 0)
        for partition, end in progress.end.items()
    }
    return ConsumerHealth(
        topic_consumer.cluster.name,
        _state(topic_consumer),
        problem=progress.problem,
        restarts=progress.restarts,
        records=progress.records,
        skipped=dict(topic_consumer.skips.total),
        remaining=progress.remaining,
        rate=round(progress.rate(now), 1),
        seconds_left=_rounded(progress.seconds_left(now)),
        lag=lag,
        positions={str(partition): at for partition, at in positions.items()},
        behind_s=_rounded(progress.behind_s(now)),
        read_age_s=_rounded(progress.read_age_s(now)),
        end_age_s=_rounded(progress.end_age_s(now)),
        held_back=progress.held_back(now),
        unanswered=progress.unanswered,
        backfill_partitions_left=topic_consumer.partitions_to_backfill,
        backfill_problem=topic_consumer.backfill_trouble.problem or None,
    )


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 1)


def _outside_consumer(outside_consumer: OutsideConsumer, now: float) -> ConsumerHealth:
    """Of consumers whose commits are in ZooKeeper, or asked for: there are no positions."""
    return ConsumerHealth(
        outside_consumer.cluster.name,
        _outside_state(outside_consumer),
        problem=outside_consumer.problem,
        restarts=outside_consumer.restarts,
        records=outside_consumer.records,
        skipped=dict(outside_consumer.skips.total),
        remaining=0,
        behind_s=_rounded(outside_consumer.behind_s(now)),
        not_read=outside_consumer.not_read or LEFT_OUT,
    )


def _outside_state(outside_consumer: OutsideConsumer) -> ConsumerState:
    if outside_consumer.problem:
        return "failed"
    if not outside_consumer.is_caught_up:
        return "connecting"
    return "catching up" if outside_consumer.is_behind else "caught up"


def is_catching_up(topic_consumer: TopicConsumer) -> bool:
    """Whether it reads what has piled up; where no broker answers, nothing is read."""
    return _state(topic_consumer) == "catching up" and not topic_consumer.cluster.problem


def _state(topic_consumer: TopicConsumer) -> ConsumerState:
    progress = topic_consumer.progress
    if progress.problem:
        return "failed"
    if not progress.position:
        return "connecting"
    return "caught up" if progress.is_caught_up else "catching up"
