"""From the configuration to what a worker is told."""

import socket
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from warren.config import Config, HttpServer, Secret
from warren.config.render import settings_shown
from warren.serve import config_answers
from warren.serve.access import Access, digest
from warren.serve.browsers import ANY
from warren.serve.listeners import Listener, seconds
from warren.serve.site import Settings
from warren.serve.startup import ServerSettings, Startup

RESOLVER = Path("/etc/resolv.conf")


def startup(config: Config, listeners: Sequence[Listener]) -> Startup:
    settings = Settings(
        host=socket.gethostname(),
        allow_origin=config.general.access_control_allow_origin,
        minimum_complete=config.evaluator.minimum_complete,
        allowed_lag=config.evaluator.allowed_lag,
        clusters=list(config.clusters),
        main=config_answers.main(config),
        modules=config_answers.modules(config),
        max_series=config.metrics.max_series,
        keeps_history=config.history is not None,
        judged_every_s=config.evaluator.expire_cache,
        shown=settings_shown(config),
    )
    return Startup([_server(config, listener) for listener in listeners], settings)


def _server(config: Config, listener: Listener) -> ServerSettings:
    server = listener.server
    tls = config.tls.get(server.tls)
    return ServerSettings(
        fd=listener.socket.fileno(),
        timeout_s=seconds(server),
        max_connections=server.max_connections,
        hosts=hosts_of(config, server),
        access=Access(_digest(server.read_token), _digest(server.write_token), server.allow_writes),
        certfile=tls.certfile if tls else "",
        keyfile=tls.keyfile if tls else "",
        client_cafile=server.client_cafile,
    )


def hosts_of(config: Config, server: HttpServer) -> list[str]:
    """The names that lead browsers here, as far as they are known; `*` where any will do.

    A stranger's page has no certificate for its name with our key, and no token of ours.
    """
    if server.tls or server.read_token:
        return [ANY]
    machine = socket.gethostname()
    names = [
        machine,
        *(f"{machine}.{domain}" for domain in _domains()),
        server.address.rpartition(":")[0].strip("[]"),
        urlsplit(config.general.external_url).hostname or "",
        *server.allowed_hosts,
    ]
    return [name.lower() for name in names if name]


def _domains() -> list[str]:
    """The domains this machine looks names up in: its own name may be in each."""
    try:
        lines = RESOLVER.read_text(errors="replace").splitlines()
    except OSError:
        return []
    words = (line.split() for line in lines)
    return [name for line in words if line[:1] in (["search"], ["domain"]) for name in line[1:]]


def _digest(secret: Secret) -> str:
    return digest(secret.reveal()) if secret else ""
