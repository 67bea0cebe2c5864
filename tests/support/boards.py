"""Boards for tests, made by the real windows and the real rules."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from support.batches import COMMITS

from warren.evaluate.judge import JudgeSettings, judge
from warren.evaluate.measure import measure
from warren.evaluate.warren_evaluator import Facts, deciding, judge_words
from warren.model.board import Board, ClusterBoard, TopicEnds
from warren.model.health import Health
from warren.model.tables import LOG_ENDS
from warren.serve.board_file.commits_file import CommitsFile
from warren.windows.end_history import LogEnds
from warren.windows.readings import readings
from warren.windows.window_reader import window_arrays
from warren.windows.windows import Windows

# group, topic, partition, offset (None: a tombstone), committed_ms
Commit = tuple[str, str, int, int | None, int]

NOW_S = 1_700_000_000


def windows_of(ends: Mapping[str, Sequence[int | None]], commits: Iterable[Commit]) -> Windows:
    windows = Windows(intervals=10)
    counts = {topic: len(partitions) for topic, partitions in ends.items()}
    windows.set_log_ends(log_ends(ends), counts)
    add(windows, commits)
    return windows


def log_ends(ends: Mapping[str, Sequence[int | None]]) -> pa.Table:
    rows = [
        {"topic": topic, "partition": partition, "offset": end}
        for topic, partitions in ends.items()
        for partition, end in enumerate(partitions)
    ]
    return pa.Table.from_pylist(rows, LOG_ENDS)


def add(windows: Windows, commits: Iterable[Commit], first_order: int = 0) -> None:
    names = ("group", "topic", "partition", "offset", "committed_ms")
    rows = [
        dict(zip(names, commit, strict=True)) | {"order": first_order + order}
        for order, commit in enumerate(commits)
    ]
    windows.fold(pa.Table.from_pylist(rows, COMMITS), NOW_S)


def cluster_board(
    windows: Windows,
    ends: Mapping[str, Sequence[int | None]],
    file: CommitsFile | None = None,
    now_s: int = NOW_S,
) -> ClusterBoard:
    """Judged from windows; the log ends may be newer than what the windows know."""
    shown = window_arrays(windows)
    stored = (file or CommitsFile()).store(shown)
    verdicts = judge(shown, JudgeSettings(), now_s)
    numbers = measure(readings(windows, shown, now_s), verdicts.groups.first)
    return ClusterBoard(verdicts, stored, newest_ends(ends), numbers)


def with_words(
    judged: ClusterBoard, windows: Windows, starts: Mapping[str, int], *, decides: bool = False
) -> ClusterBoard:
    """Judged by Warren's evaluator too; the logs of some topics start late."""
    view, grid = window_arrays(windows), windows.grid
    said = judged.verdicts
    start = np.array([starts.get(said.topics[at], 0) for at in said.partitions.topic])
    facts = Facts(judged.numbers, np.full(len(start), said.now_s, np.float64), start)
    judgement = judge_words(view, grid.memory, grid.past, said, facts)
    if decides:
        said, judgement = deciding(said, judgement)
    return replace(judged, verdicts=said, judgement=judgement)


def newest_ends(ends: Mapping[str, Sequence[int | None]]) -> TopicEnds:
    """Log ends that were read once: nobody knows how fast they grow."""
    known = LogEnds(intervals=1)
    known.refresh(log_ends(ends), {topic: len(each) for topic, each in ends.items()})
    return known.of_topics()


def board(**clusters: ClusterBoard) -> Board:
    return Board(NOW_S * 1000, clusters, Health(ready=True))
