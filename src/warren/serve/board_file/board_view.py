"""The board as a worker sees it: arrays mapped from the file, and the look-ups requests need."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import isnan

import msgspec
import numpy as np

from warren.model.arrays import AnyArray, Bytes, Ints
from warren.model.board import NO_END
from warren.model.health import Health
from warren.model.topic_facts import TopicTable
from warren.model.window_commits import COLUMNS, C, MakeCommit, make_commits
from warren.serve.board_file import commits_file, opinions, packed_arrays
from warren.serve.board_file.commits_file import Windows
from warren.serve.board_file.opinions import Opinions
from warren.serve.board_file.packed_arrays import BoardFacts, ClusterFacts

AT_ONCE = 1000  # windows whose commits are in memory at a time


class NumberedNames:
    """Names by number, and numbers by name."""

    def __init__(self, encoded: bytes) -> None:
        self.encoded = encoded
        self.names: list[str] = msgspec.json.decode(encoded)

    @cached_property
    def numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}


class EncodedFacts:
    """How topics are configured; decoded on the first request for one."""

    def __init__(self, encoded: bytes) -> None:
        self.encoded = encoded

    @cached_property
    def table(self) -> TopicTable:
        return msgspec.json.decode(self.encoded, type=TopicTable)


@dataclass(frozen=True)
class ClusterView:
    """One cluster of the board; `lines` of a group are its partitions, topic by topic."""

    facts: ClusterFacts
    arrays: dict[str, AnyArray]
    windows: Windows
    configured: EncodedFacts
    groups: NumberedNames
    topics: NumberedNames
    owners: NumberedNames
    topics_with_ends: NumberedNames

    def lines(self, group: int) -> slice:
        first = self.arrays["group_first"]
        return slice(int(first[group]), int(first[group + 1]))

    @cached_property
    def group_lacks(self) -> Bytes:
        """What the numbers of any partition of each group lack; every group has partitions."""
        first, lack = self.arrays["group_first"][:-1], self.arrays["lack"]
        return np.bitwise_or.reduceat(lack, first) if len(first) else lack[:0]

    @cached_property
    def opinions(self) -> Opinions | None:
        """What both evaluators say; None: the board does not say."""
        return opinions.read(self.arrays, decides=self.facts.words_decide)

    def as_of_ms(self, group: int) -> int:
        """The time its verdict is for: all its commits up to then have been read."""
        return int(self.arrays["group_as_of_ms"][group]) or self.facts.now_s * 1000

    def windows_of(self, lines: slice | Ints) -> Windows:
        """The window of each line; for a line without a commit, an arbitrary one."""
        place = self.arrays["window"][lines]
        return (
            self.windows[np.maximum(place, 0)]
            if len(self.windows)
            else self._empty_windows(len(place))
        )

    def commits(self, lines: slice, make: MakeCommit[C]) -> Iterator[list[C]]:
        """The commits of each line, oldest first; an empty list for a line without a commit."""
        for start in range(lines.start, lines.stop, AT_ONCE):
            some = slice(start, min(start + AT_ONCE, lines.stop))
            windows, filled = self.windows_of(some), self.arrays["filled"][some].tolist()
            held = np.arange(self.facts.intervals, 0, -1) <= np.array(filled)[:, np.newaxis]
            every = iter(make_commits(make, *(windows[column][held] for column in COLUMNS)))
            yield from (list(islice(every, count)) for count in filled)

    def _empty_windows(self, count: int) -> Windows:
        return np.zeros(count, commits_file.layout(self.facts.intervals))

    def ends(self, topic: str) -> list[int | None] | None:
        """The log end of each partition, None where it is not known; None for an unknown topic."""
        return self._offsets("ends", topic)

    def starts(self, topic: str) -> list[int | None] | None:
        """Likewise the log starts, which are known only of topics that groups read."""
        return self._offsets("starts", topic)

    def _offsets(self, column: str, topic: str) -> list[int | None] | None:
        found = self._of_topic(column, topic)
        return None if found is None else [None if at == NO_END else at for at in found.tolist()]

    def rates(self, topic: str) -> list[float | None]:
        """Recent messages a second of each partition, None where it is not known."""
        rates = self._of_topic("end_rates", topic)
        known = [] if rates is None else rates.tolist()
        return [None if isnan(rate) else round(rate, 3) for rate in known]

    def _of_topic(self, column: str, topic: str) -> AnyArray | None:
        number = self.topics_with_ends.numbers.get(topic)
        if number is None:
            return None
        first = self.arrays["end_first"]
        return self.arrays[column][int(first[number]) : int(first[number + 1])]

    def groups_of(self, topic: str) -> list[str]:
        lines = np.flatnonzero(self.arrays["topic"] == self.topics.numbers.get(topic, -1))
        groups = np.searchsorted(self.arrays["group_first"], lines, side="right") - 1
        return [self.groups.names[group] for group in np.unique(groups).tolist()]


@dataclass(frozen=True)
class View:
    facts: BoardFacts
    clusters: dict[str, ClusterView]

    @classmethod
    def empty(cls) -> "View":
        return cls(BoardFacts(0, [], Health(), {}), {})

    @classmethod
    def open(cls, files: list[int], before: "View") -> "View":
        """Map a board and the commits it refers to; reuse names that have not changed."""
        raw, arrays = packed_arrays.read(files[0])
        facts = msgspec.json.decode(raw, type=BoardFacts)
        clusters = {}
        for number, (cluster, commits) in enumerate(zip(facts.clusters, files[1:], strict=True)):
            own = _own(arrays, number)
            known = before.clusters.get(cluster.name)
            windows = commits_file.read(commits, cluster.intervals)
            names, configured = _names(own, known), _configured(own, known)
            clusters[cluster.name] = ClusterView(cluster, own, windows, configured, *names)
        return cls(facts, clusters)


def _own(arrays: dict[str, AnyArray], number: int) -> dict[str, AnyArray]:
    prefix = f"{number}."
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def _configured(arrays: dict[str, AnyArray], known: ClusterView | None) -> EncodedFacts:
    encoded = arrays["topic_facts"].tobytes()
    is_same = known is not None and known.configured.encoded == encoded
    return known.configured if known is not None and is_same else EncodedFacts(encoded)


def _names(arrays: dict[str, AnyArray], known: ClusterView | None) -> list[NumberedNames]:
    before = [known.groups, known.topics, known.owners, known.topics_with_ends] if known else []
    kinds = ("group_names", "topic_names", "owner_names", "end_names")
    named = []
    for number, kind in enumerate(kinds):
        encoded = arrays[kind].tobytes()
        same = bool(before) and before[number].encoded == encoded
        named.append(before[number] if same else NumberedNames(encoded))
    for each in named:
        _ = (
            each.numbers
        )  # computed now, in the thread that receives boards, and not during a request
    return named
