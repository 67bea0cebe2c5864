"""Warren about itself: what the health answer, the ready answer and the `warren_*` metrics tell."""

from collections.abc import Mapping
from contextlib import ExitStack

from warren.cluster import Cluster, Following


def describe(
    clusters: Mapping[str, Cluster],
    followings: Mapping[str, Following],
    tick_seconds: float,
    now: float,
) -> dict[str, object]:
    with ExitStack() as locks:
        for cluster in clusters.values():
            locks.enter_context(cluster.lock)
        return {
            "ready": all(each.progress.is_caught_up for each in followings.values()),
            "tick_seconds": round(tick_seconds, 4),
            "clusters": {name: _cluster(cluster, now) for name, cluster in clusters.items()},
            "consumers": {name: _consumer(each, now) for name, each in followings.items()},
        }


def _cluster(cluster: Cluster, now: float) -> dict[str, object]:
    return {
        "problem": cluster.problem,
        "restarts": cluster.restarts,
        "data_age_s": round(now - cluster.ends_s, 3) if cluster.ends_s else None,
        "leaderless": cluster.topics.leaderless if cluster.topics else None,
        "without_log_end": len(cluster.missing),
        "waiting_for_log_end": len(cluster.windows.waiting),
        "dropped": dict(cluster.windows.dropped),
    }


def _consumer(following: Following, now: float) -> dict[str, object]:
    progress = following.progress
    left = progress.seconds_left(now)
    lag = {
        str(partition): max(end - progress.position.get(partition, 0), 0)
        for partition, end in progress.end.items()
    }
    return {
        "cluster": following.cluster.name,
        "state": _state(following),
        "problem": progress.problem,
        "restarts": progress.restarts,
        "records": progress.records,
        "skipped": dict(following.skips.total),
        "remaining": progress.remaining,
        "rate": round(progress.rate(now), 1),
        "seconds_left": None if left is None else round(left, 1),
        "lag": lag,
        "positions": {str(partition): at for partition, at in progress.position.items()},
        "held_back": progress.held_back(now),
        "unanswered": progress.unanswered,
    }


def _state(following: Following) -> str:
    progress = following.progress
    if progress.problem:
        return "failed"
    if not progress.position:
        return "connecting"
    return "caught up" if progress.is_caught_up else "catching up"
