"""The latest verdicts. A board never changes: a new one replaces it, and readers see only that."""

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from warren.model.arrays import Bytes, Codes, Ints, Singles
from warren.model.group_life import GroupLife, OtherGroup
from warren.model.health import Health
from warren.model.judgement import Judgement
from warren.model.numbers import Numbers
from warren.model.policies import LinePolicies
from warren.model.query_facts import QueryFacts
from warren.model.topic_facts import ClusterFacts
from warren.model.verdicts import Verdicts

NO_END = -1  # the partition exists, but its log end is unknown


class SharedFile:
    """Memory with a file descriptor, for other processes to map; freed when nobody holds it."""

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
    place: Codes  # for each line of the verdicts: its window in the file; -1: none


@dataclass(frozen=True)
class TopicEnds:
    """The end and the growth of every partition of every topic, whether a group reads it or not."""

    topics: tuple[str, ...]  # sorted
    first: Ints  # a topic's partitions are first[i] .. first[i + 1] - 1; one longer than the rest
    end: Ints  # or NO_END
    rate: Singles  # recent messages per second; NaN: unknown
    start: Ints  # or NO_END; known only of topics that groups read


@dataclass(frozen=True)
class ClusterBoard:
    """One cluster: its verdicts, and the windows and log ends that they are based on."""

    verdicts: Verdicts
    windows: StoredWindows
    ends: TopicEnds
    numbers: Numbers  # of the lines and groups of the verdicts
    generations: Mapping[str, int] = field(default_factory=dict)  # of groups that have one
    # By consumer: for each partition of its offsets topic, the next record to fold.
    positions: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    # Groups whose commits come from outside the offsets topic, by consumer.
    outside: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # By group: owner and client id of the members without any partition.
    idle: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    facts: ClusterFacts = field(default_factory=ClusterFacts)  # as the brokers are configured
    life: GroupLife | None = None  # None: not decoded, as on boards that are read from history
    # Groups without a verdict: share groups, and others that have not committed anything.
    others: Mapping[str, OtherGroup] = field(default_factory=dict)
    policies: LinePolicies | None = None  # None: there are none
    queries: Mapping[str, QueryFacts] = field(default_factory=dict)  # of groups that have one
    judgement: Judgement | None = None  # Warren's words on the lines and groups of the verdicts

    @property
    def alarms(self) -> Bytes:
        """By group, the status that opens an incident: not every word that is bad does."""
        if self.judgement is not None and self.judgement.decides:
            return self.judgement.pages
        return self.verdicts.groups.status


@dataclass(frozen=True)
class Board:
    moment_ms: int  # when its verdicts were made
    clusters: Mapping[str, ClusterBoard] = field(default_factory=dict)
    health: Health = field(default_factory=Health)
