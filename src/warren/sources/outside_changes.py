"""Commits and owners from outside the offsets topic; in ZooKeeper each is a node of a tree."""

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol

from warren.errors import Unreadable
from warren.model.query_facts import QueryFacts
from warren.sources.zookeeper_tree import Kind, Leaf, Parts, TreeChanges

UNREADABLE_NODE = "unreadable node"
GREATEST_OFFSET = 2**63 - 1
GREATEST_PARTITION = 2**31 - 1

IN_A_MS = 1024  # commits of one millisecond that can be told apart

Owners = dict[tuple[str, int], tuple[str, str]]  # (topic, partition) -> (owner, client id)


def order_at(time_ms: int, number: int = 0) -> int:
    """The order of a commit that is known by its time, and by a number if it has one."""
    return time_ms * IN_A_MS + number % IN_A_MS


class OutsideKey(NamedTuple):
    group: str
    topic: str
    partition: int


class OutsideCommit(NamedTuple):
    key: OutsideKey
    offset: int | None  # None: the commit was removed
    committed_ms: int
    order: int


class Owner(NamedTuple):
    key: OutsideKey
    owner: str


class Layout(Protocol):
    """Which nodes hold the commits and owners of a kind of consumer."""

    base: str

    def kind(self, parts: Parts) -> Kind | None: ...

    def read(self, parts: Parts, leaf: Leaf) -> OutsideCommit | Owner:
        """Read a leaf; raises `Unreadable`."""
        ...


class OutsideChanges(NamedTuple):
    commits: list[OutsideCommit]
    owners: dict[str, Owners]  # of every group whose owners changed, all its owners
    skipped: Counter[str]
    queries: Mapping[str, QueryFacts] = MappingProxyType({})  # what is new of the groups' queries


class ChangeCollector:
    """Turns changed nodes into commits and owners; remembers each node for its removal."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._commits: dict[Parts, OutsideKey] = {}
        self._owned: dict[Parts, OutsideKey] = {}
        self._owners: dict[str, Owners] = {}
        self._of_group: Counter[str] = Counter()  # partitions with a commit
        self._unclear: set[Parts] = set()  # nodes that we could not read

    @property
    def groups(self) -> set[str]:
        """Groups that have a commit here."""
        return {*self._of_group}

    @property
    def understood(self) -> dict[str, set[tuple[str, int]]]:
        """The partitions of each group, of groups whose nodes could all be read."""
        found: dict[str, set[tuple[str, int]]] = {}
        for group, topic, partition in self._commits.values():
            found.setdefault(group, set()).add((topic, partition))
        unclear = {parts[0] for parts in self._unclear}
        return {group: partitions for group, partitions in found.items() if group not in unclear}

    def take(self, nodes: TreeChanges) -> OutsideChanges:
        changes = OutsideChanges([], {}, Counter())
        if nodes.unreadable:
            changes.skipped[UNREADABLE_NODE] += nodes.unreadable
        for parts in nodes.gone:
            self._forget(parts, changes)
        for parts, leaf in nodes.written.items():
            try:
                content = self._layout.read(parts, leaf)
            except Unreadable as error:
                changes.skipped[error.field] += 1
                self._unclear.add(parts)
                continue
            self._unclear.discard(parts)
            if isinstance(content, OutsideCommit):
                self._commit(parts, content, changes)
            else:
                self._own(parts, content, changes)
        return changes

    def _commit(self, parts: Parts, commit: OutsideCommit, changes: OutsideChanges) -> None:
        if self._commits.get(parts, commit.key) != commit.key:
            self._forget(parts, changes)  # the node is about another partition now
        if parts not in self._commits:
            self._commits[parts] = commit.key
            self._of_group[commit.key.group] += 1
        changes.commits.append(commit)

    def _own(self, parts: Parts, owner: Owner, changes: OutsideChanges) -> None:
        group, topic, partition = self._owned[parts] = owner.key
        owners = self._owners.setdefault(group, {})
        owners[topic, partition] = (owner.owner, "")
        changes.owners[group] = owners

    def _forget(self, parts: Parts, changes: OutsideChanges) -> None:
        self._unclear.discard(parts)
        if key := self._commits.pop(parts, None):
            changes.commits.append(OutsideCommit(key, None, 0, 0))
            self._of_group[key.group] -= 1
            if not self._of_group[key.group]:
                del self._of_group[key.group]
        if key := self._owned.pop(parts, None):
            owners = self._owners[key.group]
            owners.pop((key.topic, key.partition), None)
            changes.owners[key.group] = owners
            if not owners:
                del self._owners[key.group]


def number(text: str, greatest: int, field: str) -> int:
    """A decimal number from 0 to `greatest`; raises `Unreadable`."""
    is_plain = text.isascii() and text.isdecimal() and len(text) <= len(str(greatest))
    if not is_plain or int(text) > greatest:
        raise Unreadable(field)
    return int(text)
