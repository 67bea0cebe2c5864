"""Leadership by ZooKeeper; path and form of the lock are Burrow's.

Each instance creates an ephemeral node below `<root-path>/notifier`; the first in line leads. We
read the line every second, up to date by a `sync`. If we are first, the lease lasts for two thirds
of the session time-out: less than ZooKeeper needs to expire a silent session and let the next
instance lead.
"""

import threading
from collections.abc import Mapping
from typing import Any

from kazoo.exceptions import ConnectionLoss, KazooException, SessionExpiredError
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.interfaces import IAsyncResult
from kazoo.protocol.states import KazooState

from warren.clients import zookeeper
from warren.config import Tls, Zookeeper
from warren.errors import LeadershipLost
from warren.leadership.lease import NOTIFIER, Lease
from warren.leadership.shared_state import State

PAUSE_S = 1.0
START_S = 2.0  # for the first connection, before we log that there is none
LEASE_SHARE = 2 / 3  # of the session time-out
SEQUENCE_DIGITS = 10
DISCONNECTIONS = (ConnectionLoss, SessionExpiredError, KazooTimeoutError)
FAILURES = (KazooException, KazooTimeoutError)


class ZookeeperLock:
    def __init__(
        self, settings: Zookeeper, tls: Tls | None, node: str = NOTIFIER, duty: str = NOTIFIER
    ) -> None:
        self._settings = settings
        self._tls = tls
        self._lease_s = settings.timeout * LEASE_SHARE
        self._line = f"{settings.root_path.rstrip('/')}/{node}"
        self._lease = Lease("zookeeper", duty)
        self._client: zookeeper.Client | None = None
        self._node = ""  # ours, in the line
        self._state: State | None = None

    @property
    def leads(self) -> bool:
        return self._lease.is_valid

    @property
    def problem(self) -> str:
        return self._lease.problem

    def run(self, stop: threading.Event) -> None:
        settings = self._settings
        client = zookeeper.client(settings.servers, settings.timeout, self._tls)
        client.add_listener(self._on_state)
        self._client = client
        client.start_async().wait(START_S)
        try:
            while not stop.is_set():
                self._lease.log_changes(self._round(client))
                stop.wait(min(PAUSE_S, self._lease_s / 4))
        finally:
            self._lease.end()
            zookeeper.close(client)
            self._lease.log_changes(self.problem)

    def load(self) -> dict[str, bytes]:
        state = State(self._leading_client(), f"{self._line}-state", self._node, self._lease_s)
        try:
            entries = state.load()
        except FAILURES as error:
            raise self._lost(error) from error
        self._state = state
        return entries

    def save(self, changes: Mapping[str, bytes | None]) -> None:
        self._leading_client()
        state = self._state
        if state is None:
            raise LeadershipLost("the saved state has not been loaded yet")
        try:
            state.save(changes)
        except FAILURES as error:
            raise self._lost(error) from error

    def _leading_client(self) -> zookeeper.Client:
        if not self.leads or self._client is None:
            raise LeadershipLost("another instance may lead")
        return self._client

    def _lost(self, error: Exception) -> LeadershipLost:
        """We do not know whether it was written, so what we remember may be wrong."""
        self._lease.end()
        self._state = None
        return LeadershipLost(_text(error))

    def _on_state(self, state: str) -> None:
        if state != KazooState.CONNECTED:
            self._lease.end()

    def _round(self, client: zookeeper.Client) -> str:
        """Check whether we are first in line; return the problem, if there is one."""
        unanswered = f"no ZooKeeper server answers of {', '.join(self._settings.servers)}"
        if not client.connected:
            return unanswered
        # The server may have granted less than we requested.
        self._lease_s = min(self._settings.timeout, client.session_s) * LEASE_SHARE
        request = self._lease.start_request()
        try:
            is_first = self._is_first(client)
        except DISCONNECTIONS:
            return unanswered
        except KazooException as error:
            return f"ZooKeeper: {_text(error)}"
        if is_first:
            self._lease.extend(request, self._lease_s)
        elif self.leads:
            self._lease.end()
        return ""

    def _is_first(self, client: zookeeper.Client) -> bool:
        """Our node names the session, so we find it even if the reply to `create` was lost."""
        if client.client_id is None:  # the session was lost just now
            raise ConnectionLoss
        session, _ = client.client_id
        prefix = f"_c_{session & (2**64 - 1):032x}-lock-"
        line = self._read_line(client)
        if not any(name.startswith(prefix) for name in line):
            path = f"{self._line}/{prefix}"
            self._answer(client.create_async(path, ephemeral=True, sequence=True))
            line = self._read_line(client)
        if not line or not line[0].startswith(prefix):
            return False
        self._node = f"{self._line}/{line[0]}"
        return True

    def _read_line(self, client: zookeeper.Client) -> list[str]:
        self._answer(client.ensure_path_async(self._line))
        self._answer(client.sync_async(self._line))
        names: list[str] = self._answer(client.get_children_async(self._line))
        numbered = [name for name in names if name[-SEQUENCE_DIGITS:].isdecimal()]
        return sorted(numbered, key=lambda name: int(name[-SEQUENCE_DIGITS:]))

    def _answer(self, result: IAsyncResult) -> Any:
        return result.get(timeout=self._lease_s)


def _text(error: Exception) -> str:
    return f"{type(error).__name__} {error}".strip()
