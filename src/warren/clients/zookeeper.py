"""A ZooKeeper client from the configuration. It connects for as long as it takes."""

import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.protocol.serialization import Connect

from warren.config import Tls

# Not a minute, as kazoo would have it: who waits for a session waits for a takeover.
RETRIES = {"max_tries": -1, "delay": 0.1, "max_delay": 2.0}

# What kazoo would tell of every lost connection reaches us as a state, and is told once.
_silent = logging.getLogger("warren.kazoo")
_silent.setLevel(logging.CRITICAL + 1)


class Client(KazooClient):  # type: ignore[misc]  # kazoo has no types
    """Knows for how long the server keeps a session of which it hears nothing.

    A server gives less than is asked for, or more, as its ticks are; kazoo keeps that to itself.
    """

    def __init__(self, timeout: float, **settings: object) -> None:
        super().__init__(timeout=timeout, **settings)
        self.session_s = timeout
        self._ask = self._connection._invoke  # noqa: SLF001  there is no other way to hear it
        self._connection._invoke = self._invoke  # noqa: SLF001

    def _invoke(self, timeout: float, request: object, xid: int | None = None) -> Any:
        answer = self._ask(timeout, request, xid)
        if isinstance(request, Connect) and answer[0].time_out > 0:
            self.session_s = answer[0].time_out / 1000
        return answer


def client(servers: Sequence[str], timeout_s: float, tls: Tls | None = None) -> Client:
    """A client that is not started yet; `timeout_s` is the session's."""
    secured = {} if tls is None else _secured(tls)
    return Client(
        hosts=",".join(servers),
        timeout=timeout_s,
        connection_retry=RETRIES,
        logger=_silent,
        **secured,
    )


def close(client: KazooClient) -> None:
    """End the session, or leave that to its time-out when no server answers."""
    with suppress(KazooException, KazooTimeoutError):
        client.stop()
        client.close()


def _secured(tls: Tls) -> dict[str, object]:
    return {
        "use_ssl": True,
        "ca": tls.cafile or None,
        "certfile": tls.certfile or None,
        "keyfile": tls.keyfile or None,
        "verify_certs": not tls.noverify,
        "check_hostname": not tls.noverify,
    }
