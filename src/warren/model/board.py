"""The latest verdicts, immutable, swapped whole: all that readers see."""

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from warren.model.arrays import Codes, Ints, Singles
from warren.model.health import Health
from warren.model.verdicts import Verdicts

NO_END = -1  # the partition exists, its log end is not known


class SharedFile:
    """Memory with a descriptor, that other processes map; it is gone when nobody holds it."""

    def __init__(self) -> None:
        if sys.platform == "linux":
            self.fd = os.memfd_create("warren-board")
        else:
            with tempfile.TemporaryFile() as file:
                self.fd = os.dup(file.fileno())

    def __del__(self) -> None:
        os.close(self.fd)


@dataclass(frozen=True)
class StoredWindows:
    """All commits of all windows, in a file that only grows."""

    file: SharedFile
    intervals: int
    place: Codes  # by line of the verdicts: which window of the file; -1: none


@dataclass(frozen=True)
class TopicEnds:
    """Where every partition of every topic ends, read by a group or not, and how fast it grows."""

    topics: tuple[str, ...]  # sorted
    first: Ints  # a topic's partitions are first[i] .. first[i + 1] - 1; one longer than the rest
    end: Ints  # NO_END where it is not known
    rate: Singles  # messages a second lately; NaN where it is not known


@dataclass(frozen=True)
class ClusterBoard:
    """One cluster: what was judged, from which windows, against which log ends."""

    verdicts: Verdicts
    windows: StoredWindows  # those the verdicts were made of
    ends: TopicEnds
    generations: Mapping[str, int] = field(default_factory=dict)  # of groups that have one
    # By consumer, the next record of each partition of its offsets topic that was not folded yet.
    positions: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    # Groups whose commits come from outside the offsets topic, by consumer.
    outside: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # By group: owner and client id of the members that have nothing to read.
    idle: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Board:
    moment_ms: int  # the time it is valid for
    clusters: Mapping[str, ClusterBoard] = field(default_factory=dict)
    health: Health = field(default_factory=Health)
