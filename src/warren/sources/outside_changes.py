"""Commits and owners that are kept as nodes in ZooKeeper: what a change of the tree means."""

from collections import Counter
from typing import NamedTuple, Protocol

from warren.errors import Unreadable
from warren.sources.zookeeper_tree import Kind, Leaf, Parts, TreeChanges

UNREADABLE_NODE = "unreadable node"
GREATEST_OFFSET = 2**63 - 1
GREATEST_PARTITION = 2**31 - 1

Owners = dict[tuple[str, int], tuple[str, str]]  # (topic, partition) -> (owner, client id)


class OutsideKey(NamedTuple):
    group: str
    topic: str
    partition: int


class OutsideCommit(NamedTuple):
    key: OutsideKey
    offset: int | None  # None: it is gone
    committed_ms: int
    order: int


class Owner(NamedTuple):
    key: OutsideKey
    owner: str


class Layout(Protocol):
    """Where a kind of consumer keeps what."""

    base: str

    def kind(self, parts: Parts) -> Kind | None: ...

    def read(self, parts: Parts, leaf: Leaf) -> OutsideCommit | Owner:
        """Read a leaf; raises `Unreadable`."""
        ...


class OutsideChanges(NamedTuple):
    commits: list[OutsideCommit]
    owners: dict[str, Owners]  # all owners there are, of every group with a change in them
    skipped: Counter[str]


class ChangeCollector:
    """Remembers which node told what, for when it is gone."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._commits: dict[Parts, OutsideKey] = {}
        self._owned: dict[Parts, OutsideKey] = {}
        self._owners: dict[str, Owners] = {}
        self._of_group: Counter[str] = Counter()  # partitions with a commit
        self._unclear: set[Parts] = set()  # nodes that say nothing we understand

    @property
    def groups(self) -> set[str]:
        """Those that have a commit here."""
        return {*self._of_group}

    @property
    def understood(self) -> dict[str, set[tuple[str, int]]]:
        """The partitions of groups all of whose nodes were understood."""
        found: dict[str, set[tuple[str, int]]] = {}
        for group, topic, partition in self._commits.values():
            found.setdefault(group, set()).add((topic, partition))
        unclear = {parts[0] for parts in self._unclear}
        return {group: partitions for group, partitions in found.items() if group not in unclear}

    def take(self, changes: TreeChanges) -> OutsideChanges:
        reported = OutsideChanges([], {}, Counter())
        if changes.unreadable:
            reported.skipped[UNREADABLE_NODE] += changes.unreadable
        for parts in changes.gone:
            self._forget(parts, reported)
        for parts, leaf in changes.written.items():
            try:
                told = self._layout.read(parts, leaf)
            except Unreadable as error:
                reported.skipped[error.field] += 1
                self._unclear.add(parts)
                continue
            self._unclear.discard(parts)
            if isinstance(told, OutsideCommit):
                self._commit(parts, told, reported)
            else:
                self._own(parts, told, reported)
        return reported

    def _commit(self, parts: Parts, commit: OutsideCommit, reported: OutsideChanges) -> None:
        if self._commits.get(parts, commit.key) != commit.key:
            self._forget(parts, reported)  # the node is about another partition now
        if parts not in self._commits:
            self._commits[parts] = commit.key
            self._of_group[commit.key.group] += 1
        reported.commits.append(commit)

    def _own(self, parts: Parts, told: Owner, reported: OutsideChanges) -> None:
        group, topic, partition = self._owned[parts] = told.key
        owners = self._owners.setdefault(group, {})
        owners[topic, partition] = (told.owner, "")
        reported.owners[group] = owners

    def _forget(self, parts: Parts, reported: OutsideChanges) -> None:
        self._unclear.discard(parts)
        if key := self._commits.pop(parts, None):
            reported.commits.append(OutsideCommit(key, None, 0, 0))
            self._of_group[key.group] -= 1
            if not self._of_group[key.group]:
                del self._of_group[key.group]
        if key := self._owned.pop(parts, None):
            owners = self._owners[key.group]
            owners.pop((key.topic, key.partition), None)
            reported.owners[key.group] = owners
            if not owners:
                del self._owners[key.group]


def number(text: str, greatest: int, field: str) -> int:
    """A number written plainly, in range; raises `Unreadable`."""
    is_plain = text.isascii() and text.isdecimal() and len(text) <= len(str(greatest))
    if not is_plain or int(text) > greatest:
        raise Unreadable(field)
    return int(text)
