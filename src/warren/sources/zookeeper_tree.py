"""A part of ZooKeeper's tree, kept up to date by watches.

A watch fires once, and does not say what changed: the node is read again, which sets the next
watch. All watches end with the connection, so after each reconnection everything is read again.
"""

import queue
import time
from collections.abc import Callable, Iterable
from enum import Enum, auto
from typing import Any, NamedTuple

from kazoo.client import KazooClient
from kazoo.exceptions import (
    ConnectionLoss,
    KazooException,
    NoAuthError,
    NoNodeError,
    SessionExpiredError,
)
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.protocol.states import KazooState, WatchedEvent

BATCH = 1000  # nodes requested at once
ANSWER_S = 20.0
RETRY_S = 10.0  # between attempts to read a node

Parts = tuple[str, ...]  # names from the base of the tree down


class Kind(Enum):
    BRANCH = auto()  # we read its children
    LEAF = auto()  # we read its data


class Leaf(NamedTuple):
    data: bytes
    changed_ms: int
    order: int  # of the transaction that wrote it


class TreeChanges(NamedTuple):
    written: dict[Parts, Leaf]
    gone: list[Parts]
    unreadable: int  # nodes that will be retried


class Tree:
    def __init__(
        self, base: str, kind: Callable[[Parts], Kind | None], retry_s: float = RETRY_S
    ) -> None:
        """`kind` says what a node is; None: it is ignored."""
        self._base = base
        self._retry_s = retry_s
        self._kind = kind
        self._client: KazooClient | None = None
        self._branches: dict[Parts, set[str]] = {}  # children of each branch that was read
        self._leaves: set[Parts] = set()
        # Nodes whose watch fired; None: the connection is new, everything may have changed.
        self._fired: queue.SimpleQueue[Parts | None] = queue.SimpleQueue()
        self._dirty: set[Parts] = set()  # to read
        self._retry_at: dict[Parts, float] = {}  # nodes that could not be read
        self._is_cut = True  # not connected, or only just connected
        self._behind: set[Parts] = set()  # not read yet since we connected
        self.is_there = True  # whether the base exists
        self._marked: set[Parts] | None = (
            set()
        )  # dirty nodes at the mark; None: mark at next refresh

    @property
    def is_complete(self) -> bool:
        """Whether everything that can be read has been since we connected."""
        return not self._is_cut and not self._behind

    def mark(self) -> None:
        """Mark the nodes whose watch has fired by the next refresh; see `is_mark_read`."""
        self._marked = None

    @property
    def is_mark_read(self) -> bool:
        """Whether all marked nodes have been read."""
        return self.is_complete and self._marked is not None and not self._marked

    @property
    def unread(self) -> set[str]:
        """The names right below the base that could not be read completely."""
        return {parts[0] for parts in self._retry_at if parts}

    def begin(self, client: KazooClient) -> None:
        """Use this client, which is not started yet."""
        self._client = client
        self._is_cut = True
        client.add_listener(self._on_state)

    def refresh(self, wait_s: float) -> TreeChanges:
        """Read a batch of changed nodes; wait for a change if there is none."""
        self._gather(wait_s)
        if self._marked is None:
            self._marked = {*self._dirty}
        changes = TreeChanges({}, [], 0)
        client = self._client
        if client is None or not client.connected:
            return changes
        batch = [self._dirty.pop() for _ in range(min(BATCH, len(self._dirty)))]
        requests = [(parts, self._request(client, parts)) for parts in batch]
        for parts, result in requests:
            self._marked.discard(parts)
            try:
                self._take(parts, result.get(timeout=ANSWER_S), changes)
            except NoNodeError:
                self._remove(parts, changes)
                self._expect_base(client, parts)
            except (ConnectionLoss, SessionExpiredError, KazooTimeoutError):
                self._dirty.add(parts)
                self._marked.add(parts)
            except KazooException as error:
                self._retry_later(parts, error)
                changes = changes._replace(unreadable=changes.unreadable + 1)
        return changes

    def _retry_later(self, parts: Parts, error: KazooException) -> None:
        """The tree is incomplete without a branch, unless it is one we have no right to read."""
        self._retry_at[parts] = time.monotonic() + self._retry_s
        is_hidden = parts and isinstance(error, NoAuthError)
        if is_hidden or self._kind(parts) is Kind.LEAF:
            self._behind.discard(parts)

    def _gather(self, wait_s: float) -> None:
        now = time.monotonic()
        due = [parts for parts, at in self._retry_at.items() if at <= now]
        for parts in due:
            del self._retry_at[parts]
        self._dirty.update(due)
        try:
            if not self._dirty or not (self._client and self._client.connected):
                self._note(self._fired.get(timeout=wait_s))
            while True:
                self._note(self._fired.get_nowait())
        except queue.Empty:
            return

    def _note(self, fired: Parts | None) -> None:
        if fired is not None:
            self._dirty.add(fired)
            return
        self._behind.update([(), *self._branches, *self._leaves])
        self._dirty |= self._behind
        self._is_cut = False

    def _request(self, client: KazooClient, parts: Parts) -> Any:
        path = self._path(parts)
        if self._kind(parts) is Kind.LEAF:
            return client.get_async(path, watch=self._on_change)
        return client.get_children_async(path, watch=self._on_change)

    def _take(self, parts: Parts, answer: Any, changes: TreeChanges) -> None:
        was_behind = parts in self._behind
        self._behind.discard(parts)
        if self._kind(parts) is Kind.LEAF:
            data, stat = answer
            self._leaves.add(parts)
            changes.written[parts] = Leaf(data, stat.mtime, stat.mzxid)
            return
        if not parts:
            self.is_there = True
        children = {name for name in answer if self._kind((*parts, name)) is not None}
        for name in self._branches.get(parts, set()) - children:
            self._remove((*parts, name), changes)
        self._branches[parts] = children
        unknown = self._unknown((*parts, name) for name in children)
        self._dirty |= unknown
        if was_behind:
            self._behind |= unknown

    def _unknown(self, nodes: Iterable[Parts]) -> set[Parts]:
        return {each for each in nodes if each not in self._branches and each not in self._leaves}

    def _remove(self, parts: Parts, changes: TreeChanges) -> None:
        self._dirty.discard(parts)
        self._behind.discard(parts)
        self._retry_at.pop(parts, None)
        changes.written.pop(parts, None)  # it was read just before it was removed
        if parts in self._leaves:
            self._leaves.remove(parts)
            changes.gone.append(parts)
        for name in self._branches.pop(parts, set()):
            self._remove((*parts, name), changes)

    def _expect_base(self, client: KazooClient, parts: Parts) -> None:
        """Watch for the base to be created; for other nodes the watch of the parent does it."""
        if parts:
            return
        self.is_there = False
        try:
            found = client.exists_async(self._base, watch=self._on_change).get(timeout=ANSWER_S)
        except (KazooException, KazooTimeoutError):
            found = True  # unknown: retry
        if found:
            self._retry_at[()] = time.monotonic() + self._retry_s
            self._behind.add(())

    def _path(self, parts: Parts) -> str:
        return "/".join((self._base, *parts)) if parts else self._base

    def _on_change(self, event: WatchedEvent) -> None:
        if event.path:  # else: the connection is gone, and so are all watches
            below = event.path[len(self._base) :].strip("/")
            self._fired.put(tuple(below.split("/")) if below else ())

    def _on_state(self, state: str) -> None:
        if state == KazooState.CONNECTED:
            self._fired.put(None)
        else:
            self._is_cut = True
