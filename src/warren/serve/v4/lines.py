"""From lines of the board to the groups and partitions of the answers."""

from collections import ChainMap
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from warren.evaluate.rules import Rule
from warren.model.arrays import Ints
from warren.model.health import known
from warren.model.judgement import Word
from warren.model.status import Status
from warren.serve.board_file.board_view import ClusterView, View
from warren.serve.v4 import measured, second_opinion
from warren.serve.v4.membership import brief_lives
from warren.serve.v4.shapes import Commit, GroupLine, MaxLag, Moment, PartitionLine

MS = 1000
OF_GROUPS = ("status", "complete", "total_lag", "last_commit_ms", "as_of_ms")
OF_WORST = ("topic", "partition", "current_lag")
BEHIND_S = 10  # more is shown as behind; two to five seconds are usual


def moment(view: View) -> Moment:
    consumers = view.facts.health.consumers
    positions = {name: dict(each.positions) for name, each in consumers.items()}
    return Moment(view.facts.moment_ms, positions, _behind_s(view))


def _behind_s(view: View) -> float | None:
    """How far the slowest consumer is behind; None: not known.

    A consumer of which it is not known does not hide another that is behind.
    """
    behind = [each.behind_s for each in view.facts.health.consumers.values()]
    reported = [each for each in behind if not isinstance(each, msgspec.UnsetType)]
    most = max((each for each in reported if each is not None), default=None)
    return most if None not in reported or (most or 0) > BEHIND_S else None


def starting(view: View) -> str:
    """A sentence on how far reading is; empty once everything has been read."""
    health = view.facts.health
    if health.ready:
        return ""
    if not view.facts.moment_ms or health.spark == "starting":
        return "Spark is starting; reading begins when it is up."
    behind = [each for each in health.consumers.values() if each.state != "caught up"]
    read = sum(each.records or 0 for each in behind)
    left = sum(each.remaining or 0 for each in behind)
    if not read + left:
        return "The brokers are being asked; nothing is read yet."
    text = f"The offsets topics are being read: {read:,} of {read + left:,} commits."
    seconds = max((known(each.seconds_left) or 0 for each in behind), default=0)
    return f"{text} It takes about {seconds:.0f} s more." if seconds >= 1 else text


def group_line(name: str, cluster: ClusterView, number: int) -> GroupLine:
    (line,) = group_lines(name, cluster, np.array([number]))
    return line


def group_lines(name: str, cluster: ClusterView, numbers: Ints) -> Iterator[GroupLine]:
    """Column by column: reading an array element by element takes three times as long."""
    own = {column: cluster.arrays[f"group_{column}"][numbers].tolist() for column in OF_GROUPS}
    worst = cluster.arrays["group_max_lag_line"][numbers]
    max_lag = zip(*(cluster.arrays[each][worst].tolist() for each in OF_WORST), strict=True)
    counts = np.diff(cluster.arrays["group_first"])[numbers].tolist()
    columns = zip(
        numbers.tolist(),
        counts,
        max_lag,
        measured.of_groups(cluster, numbers),
        second_opinion.of_groups(cluster, numbers),
        _lives(cluster, numbers),
        *own.values(),
        strict=True,
    )
    topics = cluster.topics.names
    for number, count, worst_line, *further, status, complete, total, commit_ms, as_of in columns:
        topic, partition, lag = worst_line
        yield GroupLine(
            name,
            cluster.groups.names[number],
            Status(status).name,  # type: ignore[arg-type]  # one of them
            round(complete, 6),
            count,
            total,
            MaxLag(topics[topic], partition, lag) if count else None,
            commit_ms,
            as_of,
            **dict(ChainMap(*further)),
        )


def _lives(cluster: ClusterView, numbers: Ints) -> Iterator[dict[str, Any]]:
    """What is known of the members of each group; nothing where the board does not say."""
    if "life_kind" not in cluster.arrays:
        yield from ({} for _ in range(len(numbers)))
        return
    yield from ({"life": each} for each in brief_lives(cluster, numbers))


def partition_lines(cluster: ClusterView, group: int) -> Iterator[PartitionLine]:
    """Each partition of a group."""
    lines = cluster.lines(group)
    yield from (line for line, _ in with_windows(cluster, lines, cluster.as_of_ms(group)))


def with_windows(
    cluster: ClusterView, lines: slice, as_of_ms: int
) -> Iterator[tuple[PartitionLine, list[Commit]]]:
    """Each partition, and its commits."""
    numbers, windows = measured.of_partitions(cluster, lines), cluster.commits(lines, Commit)
    opinions = second_opinion.of_partitions(cluster, lines)
    owners = _last_owners(cluster, lines)
    each = zip(range(lines.start, lines.stop), windows, numbers, opinions, owners, strict=True)
    for line, window, *further in each:
        yield _partition_line(cluster, line, window, dict(ChainMap(*further)), as_of_ms), window


def _last_owners(cluster: ClusterView, lines: slice) -> Iterator[dict[str, Any]]:
    """Who read each partition last that nobody reads now."""
    if "life_last_owner" not in cluster.arrays:
        yield from ({} for _ in range(lines.start, lines.stop))
        return
    last, now = (cluster.arrays[name][lines].tolist() for name in ("life_last_owner", "owner"))
    for was, is_ in zip(last, now, strict=True):
        yield {"last_owner": cluster.owners.names[was]} if was and not is_ else {}


def _partition_line(
    cluster: ClusterView, line: int, window: list[Commit], further: dict[str, Any], now_ms: int
) -> PartitionLine:
    arrays = cluster.arrays
    start, end = (window[0], window[-1]) if window else (None, None)
    return PartitionLine(
        cluster.topics.names[int(arrays["topic"][line])],
        int(arrays["partition"][line]),
        Status(int(arrays["status"][line])).name,  # type: ignore[arg-type]  # one of them
        _what_decided(cluster, line),
        round(float(arrays["complete"][line]), 6),
        int(arrays["current_lag"][line]),
        _lag_trend(window, int(arrays["current_lag"][line]), now_ms),
        _commit_rate(window, now_ms),
        (now_ms - end.committed_ms) / MS if end else None,
        cluster.owners.names[int(arrays["owner"][line])],
        cluster.owners.names[int(arrays["client"][line])],
        start,
        end,
        **further,
    )


def _what_decided(cluster: ClusterView, line: int) -> str:
    opinions = cluster.opinions
    if opinions is not None and opinions.judgement.decides:
        return Word(int(opinions.judgement.word[line])).name.lower()
    return Rule(int(cluster.arrays["rule"][line])).name.lower()


def _lag_trend(window: list[Commit], current_lag: int, now_ms: int) -> float | None:
    """Messages a second by which the lag grew since the oldest commit whose lag is known."""
    oldest = next((each for each in window if each.lag is not None), None)
    if oldest is None or oldest.lag is None:
        return None
    return _per_second(current_lag - oldest.lag, now_ms - oldest.committed_ms)


def _commit_rate(window: list[Commit], now_ms: int) -> float | None:
    """Messages a second from the first commit to the last.

    Silence counts only beyond the usual time between two commits. So the rate falls when a group
    has stopped, and does not swing with every commit otherwise.
    """
    if len(window) < 2:
        return None
    first, last = window[0], window[-1]
    took_ms = last.committed_ms - first.committed_ms
    usual_ms = took_ms // (len(window) - 1)
    silent_ms = max(now_ms - last.committed_ms - usual_ms, 0)
    return _per_second(last.offset - first.offset, took_ms + silent_ms)


def _per_second(messages: int, took_ms: int) -> float | None:
    return round(messages / took_ms * MS, 3) if took_ms > 0 else None
