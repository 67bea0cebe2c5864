"""The sockets of `[httpserver.*]`, opened before anything else starts."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass

import structlog

from warren.config import HttpServer
from warren.errors import StartError

log = structlog.get_logger()

BACKLOG = 1024


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
    """Listen on every address, or raise StartError for the first that cannot be had."""
    listeners: list[Listener] = []
    for server in servers.values():
        try:
            listeners.append(Listener(server, _listen(server.address)))
        except OSError as error:
            for listener in listeners:
                listener.socket.close()
            reason = (error.strerror or str(error)).lower()
            raise StartError(
                f"cannot listen on {server.address} (httpserver.{server.name}): {reason}"
            ) from error
    for listener in listeners:
        log.info("listening for HTTP", name=listener.server.name, url=listener.url)
    return listeners


def _listen(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    if host:
        return _open(host.strip("[]"), port)
    try:
        return _open("::", port, socket.AF_INET6)  # with IPv4 on the same socket, as in Go
    except OSError:
        return _open("0.0.0.0", port)  # noqa: S104  # a blank host means everywhere


def _open(host: str, port: str, family: int = socket.AF_UNSPEC) -> socket.socket:
    found = socket.getaddrinfo(host, int(port), family, socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, kind, protocol, _, place = found[0]
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
