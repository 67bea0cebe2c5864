"""Every commit of every partition of a group, in columns: what charts are drawn from."""

from typing import Any

import numpy as np
import numpy.typing as npt

from warren.evaluate.rules import Evidence, Rule, decide
from warren.evaluate.verdicts import STATUS_OF
from warren.model import Status
from warren.serve.commits_file import Windows
from warren.serve.site import Site
from warren.serve.v4 import shapes
from warren.serve.v4.groups import find
from warren.serve.v4.lines import moment
from warren.serve.v4.queries import OneGroup
from warren.serve.view import Cluster

Ints = npt.NDArray[np.int64]
Counts = npt.NDArray[np.uint16]

NOT_TOLD = -1


def windows(site: Site, query: OneGroup) -> shapes.Windows | str:
    found = find(site.view, query.cluster, query.group)
    if isinstance(found, str):
        return found
    cluster, number = found
    return shapes.Windows(
        moment(site.view),
        query.cluster,
        query.group,
        cluster.as_of_ms(number),
        _windows(site, cluster, cluster.lines(number)),
    )


def _windows(site: Site, cluster: Cluster, lines: slice) -> list[shapes.Window]:
    arrays, intervals = cluster.arrays, cluster.facts.intervals
    stored, filled = cluster.windows_of(lines), arrays["filled"][lines]
    judged = statuses(stored, filled, site.settings.minimum_complete, site.settings.allowed_lag)
    columns = [stored[name].tolist() for name in ("committed_ms", "offset", "lag")]
    columns.append(judged.tolist())
    topics = [cluster.topics.names[at] for at in arrays["topic"][lines].tolist()]
    told = []
    for at, (topic, partition, count) in enumerate(
        zip(topics, arrays["partition"][lines].tolist(), filled.tolist(), strict=True)
    ):
        committed_ms, offset, lag, status = (column[at][intervals - count :] for column in columns)
        known = [each if each >= 0 else None for each in lag]
        names: list[Any] = [None if each == NOT_TOLD else Status(each).name for each in status]
        told.append(shapes.Window(topic, partition, committed_ms, offset, known, names))
    return told


def statuses(stored: Windows, filled: Counts, minimum_complete: float, allowed_lag: int) -> Ints:
    """What each partition was just after each commit of its window, where that can be told.

    In a full window the commits that came before its first are gone. Without them only the last
    commit can be judged, and those that found no more lag than allowed.
    """
    intervals = stored["offset"].shape[1]
    told = np.full((len(stored), intervals), NOT_TOLD, np.int64)
    commits = filled.astype(np.int64)
    for column in range(intervals):
        held = commits - (intervals - 1 - column)  # commits up to this one
        rule = _rule_then(stored, column, allowed_lag)
        rule[held < np.float32(minimum_complete) * intervals] = Rule.NOT_JUDGED
        is_whole = (commits < intervals) | (column == intervals - 1)
        is_known = (held > 0) & (stored["lag"][:, column] >= 0)
        some = np.flatnonzero(is_known & (is_whole | (rule == Rule.CAUGHT_UP)))
        told[some, column] = STATUS_OF[rule[some]]
    return told


def _rule_then(stored: Windows, column: int, allowed_lag: int) -> npt.NDArray[np.uint8]:
    """What decided at the moment of a commit: then there is no silence, whatever the log ends."""
    offset, committed_ms, lag = (
        stored[name][:, : column + 1] for name in ("offset", "committed_ms", "lag")
    )
    ends, had_stopped = np.zeros(len(stored), np.int64), np.zeros(len(stored), np.bool_)
    evidence = Evidence(offset, committed_ms, lag, np.maximum(lag[:, -1], 0), ends, had_stopped)
    return decide(evidence, allowed_lag, 0)
