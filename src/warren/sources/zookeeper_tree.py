"""A part of ZooKeeper's tree, kept up to date by watches.

A watch tells once that something has changed, not what: its node is read again, which sets the next
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

BATCH = 1000  # nodes asked for at once
ANSWER_S = 20.0
RETRY_S = 10.0  # after which a node that could not be read is tried again

Parts = tuple[str, ...]  # names from the base of the tree down


class Kind(Enum):
    BRANCH = auto()  # whose children count
    LEAF = auto()  # whose data counts


class Leaf(NamedTuple):
    data: bytes
    changed_ms: int
    order: int  # of the transaction that wrote it


class TreeChanges(NamedTuple):
    written: dict[Parts, Leaf]
    gone: list[Parts]
    unreadable: int  # nodes that will be tried again


class Tree:
    def __init__(
        self, base: str, kind: Callable[[Parts], Kind | None], retry_s: float = RETRY_S
    ) -> None:
        """`kind` says what a node is; None: it is of no interest."""
        self._base = base
        self._retry_s = retry_s
        self._kind = kind
        self._client: KazooClient | None = None
        self._branches: dict[Parts, set[str]] = {}  # those that were read, and their children
        self._leaves: set[Parts] = set()
        # What watches told; None: the connection is new, everything may have changed.
        self._told: queue.SimpleQueue[Parts | None] = queue.SimpleQueue()
        self._dirty: set[Parts] = set()  # to be read
        self._later: dict[Parts, float] = {}  # could not be read; when to try again
        self._is_cut = True  # the connection was lost, or not there yet, and not all is read again
        self._behind: set[Parts] = set()  # to be read before all has been, on this connection
        self.is_there = True  # whether there is such a path
        self._marked: set[Parts] | None = set()  # to be read, of a moment; None: of the next turn

    @property
    def is_complete(self) -> bool:
        """Whether all that can be read has been since the connection was made."""
        return not self._is_cut and not self._behind

    def mark(self) -> None:
        """Note what watches have told by the next turn; `is_mark_read` tells when it is read."""
        self._marked = None

    @property
    def is_mark_read(self) -> bool:
        return self.is_complete and self._marked is not None and not self._marked

    @property
    def unread(self) -> set[str]:
        """The nodes below the base that could not be read, or something below them."""
        return {parts[0] for parts in self._later if parts}

    def begin(self, client: KazooClient) -> None:
        """Read with this client, which is not started yet, from now on."""
        self._client = client
        self._is_cut = True
        client.add_listener(self._on_state)

    def refresh(self, wait_s: float) -> TreeChanges:
        """Read what changed, or wait for it; a part of it when it is much."""
        self._gather(wait_s)
        if self._marked is None:
            self._marked = {*self._dirty}
        changes = TreeChanges({}, [], 0)
        client = self._client
        if client is None or not client.connected:
            return changes
        batch = [self._dirty.pop() for _ in range(min(BATCH, len(self._dirty)))]
        asked = [(parts, self._ask(client, parts)) for parts in batch]
        for parts, result in asked:
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
                self._put_off(parts, error)
                changes = changes._replace(unreadable=changes.unreadable + 1)
        return changes

    def _put_off(self, parts: Parts, error: KazooException) -> None:
        """Without a branch not all has been read, unless we are not to see that part of it."""
        self._later[parts] = time.monotonic() + self._retry_s
        is_hidden = parts and isinstance(error, NoAuthError)
        if is_hidden or self._kind(parts) is Kind.LEAF:
            self._behind.discard(parts)

    def _gather(self, wait_s: float) -> None:
        now = time.monotonic()
        due = [parts for parts, at in self._later.items() if at <= now]
        for parts in due:
            del self._later[parts]
        self._dirty.update(due)
        try:
            if not self._dirty or not (self._client and self._client.connected):
                self._note(self._told.get(timeout=wait_s))
            while True:
                self._note(self._told.get_nowait())
        except queue.Empty:
            return

    def _note(self, told: Parts | None) -> None:
        if told is not None:
            self._dirty.add(told)
            return
        self._behind.update([(), *self._branches, *self._leaves])
        self._dirty |= self._behind
        self._is_cut = False

    def _ask(self, client: KazooClient, parts: Parts) -> Any:
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
        self._later.pop(parts, None)
        changes.written.pop(parts, None)  # it was read a moment before it went
        if parts in self._leaves:
            self._leaves.remove(parts)
            changes.gone.append(parts)
        for name in self._branches.pop(parts, set()):
            self._remove((*parts, name), changes)

    def _expect_base(self, client: KazooClient, parts: Parts) -> None:
        """Of a node that is gone its parent tells when it is back; the base has none."""
        if parts:
            return
        self.is_there = False
        try:
            found = client.exists_async(self._base, watch=self._on_change).get(timeout=ANSWER_S)
        except (KazooException, KazooTimeoutError):
            found = True  # find out by trying again
        if found:
            self._later[()] = time.monotonic() + self._retry_s
            self._behind.add(())

    def _path(self, parts: Parts) -> str:
        return "/".join((self._base, *parts)) if parts else self._base

    def _on_change(self, event: WatchedEvent) -> None:
        if event.path:  # else: the connection is gone, and so are all watches
            below = event.path[len(self._base) :].strip("/")
            self._told.put(tuple(below.split("/")) if below else ())

    def _on_state(self, state: str) -> None:
        if state == KazooState.CONNECTED:
            self._told.put(None)
        else:
            self._is_cut = True
