"""A ZooKeeper client from the configuration. It connects for as long as it takes."""

import logging
from collections.abc import Sequence
from contextlib import suppress

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError

from warren.config import Tls

# Not a minute, as kazoo would have it: who waits for a session waits for a takeover.
RETRIES = {"max_tries": -1, "delay": 0.1, "max_delay": 2.0}

# What kazoo would tell of every lost connection reaches us as a state, and is told once.
_silent = logging.getLogger("warren.kazoo")
_silent.setLevel(logging.CRITICAL + 1)


def client(servers: Sequence[str], timeout_s: float, tls: Tls | None = None) -> KazooClient:
    """A client that is not started yet; `timeout_s` is the session's."""
    secured = {} if tls is None else _secured(tls)
    return KazooClient(
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
