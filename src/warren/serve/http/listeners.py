"""The sockets of `[httpserver.*]`, opened before anything else starts."""

import ipaddress
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass

import structlog

from warren.config import HttpServer
from warren.errors import StartError

log = structlog.get_logger()

EXPOSED = (
    "anybody who reaches this port may read all answers; set read-token, or listen on loopback"
)
EXPOSED_TO_WRITERS = (
    "anybody who reaches this port may read all answers and delete groups; "
    "set read-token and write-token, or listen on loopback"
)
BACKLOG = 1024
LONGEST_S = 2**31 // 1000


@dataclass(frozen=True)
class Listener:
    """A server of the configuration and the socket it listens on."""

    server: HttpServer
    socket: socket.socket

    @property
    def port(self) -> int:
        port: int = self.socket.getsockname()[1]
        return port

    @property
    def url(self) -> str:
        """Where a person on this machine reaches it."""
        host = self.server.address.rpartition(":")[0]
        return f"{'https' if self.server.tls else 'http'}://{host or 'localhost'}:{self.port}"


def bind(servers: Mapping[str, HttpServer]) -> list[Listener]:
    """Listen on every address; raise StartError for the first that cannot be bound."""
    listeners: list[Listener] = []
    for server in servers.values():
        try:
            listeners.append(Listener(server, _listen(server)))
        except OSError as error:
            for listener in listeners:
                listener.socket.close()
            reason = (error.strerror or str(error)).lower()
            raise StartError(
                f"cannot listen on {server.address} (httpserver.{server.name}): {reason}"
            ) from error
    for listener in listeners:
        log.info("listening for HTTP", name=listener.server.name, url=listener.url)
        _warn_if_exposed(listener)
    return listeners


def _warn_if_exposed(listener: Listener) -> None:
    server = listener.server
    guarded = server.read_token or server.client_cafile
    if guarded or _is_loopback(listener.socket.getsockname()[0]):
        return
    exposed = EXPOSED_TO_WRITERS if server.allow_writes and not server.write_token else EXPOSED
    log.warning(exposed, name=server.name, address=server.address)


def _is_loopback(host: str) -> bool:
    return ipaddress.ip_address(host).is_loopback


def _listen(server: HttpServer) -> socket.socket:
    host, _, port = server.address.rpartition(":")
    if host:
        listener = _open(host.strip("[]"), port)
    else:
        try:
            listener = _open("::", port, socket.AF_INET6)  # accepts IPv4 too, as in Go
        except OSError:
            listener = _open("0.0.0.0", port)  # noqa: S104  # a blank host means everywhere
    listener.setblocking(False)  # noqa: FBT003  # the socket module's signature
    if sys.platform == "linux":
        # Connections inherit it: one whose client does not read its answer is closed.
        milliseconds = seconds(server) * 1000
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
    return listener


def seconds(server: HttpServer) -> int:
    """The time-out; without one, the longest that the system can count, 25 days."""
    return min(server.timeout, LONGEST_S) if server.timeout > 0 else LONGEST_S


def _open(host: str, port: str, family: int = socket.AF_UNSPEC) -> socket.socket:
    found = socket.getaddrinfo(host, int(port), family, socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    # For a name with several addresses, Go takes the first IPv4 one.
    family, kind, protocol, _, place = min(found, key=lambda each: each[0] != socket.AF_INET)
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, host != "::")
        listener.bind(place)
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener
