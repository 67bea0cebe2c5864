"""A ZooKeeper client from the configuration. It tries to connect until it succeeds."""

import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.protocol.serialization import Connect

from warren.config import Tls

# Not kazoo's minute: a takeover waits for the session.
RETRIES = {"max_tries": -1, "delay": 0.1, "max_delay": 2.0}

# Kazoo would log every lost connection; we get it as a state, and log it once.
_silent_logger = logging.getLogger("warren.kazoo")
_silent_logger.setLevel(logging.CRITICAL + 1)


class Client(KazooClient):  # type: ignore[misc]  # kazoo has no types
    """Knows the session timeout that the server granted.

    It may be shorter or longer than the requested one; kazoo does not expose it.
    """

    def __init__(self, timeout: float, **settings: object) -> None:
        super().__init__(timeout=timeout, **settings)
        self.session_s = timeout
        self._send = self._connection._invoke  # noqa: SLF001  there is no other way to see the reply
        self._connection._invoke = self._invoke  # noqa: SLF001

    def _invoke(self, timeout: float, request: object, xid: int | None = None) -> Any:
        reply = self._send(timeout, request, xid)
        if isinstance(request, Connect) and reply[0].time_out > 0:
            self.session_s = reply[0].time_out / 1000
        return reply


def client(servers: Sequence[str], timeout_s: float, tls: Tls | None = None) -> Client:
    """A client that is not started yet; `timeout_s` is the session timeout."""
    secured = {} if tls is None else _secured(tls)
    return Client(
        hosts=",".join(servers),
        timeout=timeout_s,
        connection_retry=RETRIES,
        logger=_silent_logger,
        **secured,
    )


def close(client: KazooClient) -> None:
    """End the session; if no server answers, it ends by its timeout."""
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
