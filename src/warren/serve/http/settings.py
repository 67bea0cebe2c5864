"""The settings a worker gets when it starts. They hold no secrets: tokens are digests."""

import socket
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from warren.config import Config, HttpServer, Secret
from warren.config.render import settings_shown
from warren.serve import v3_config
from warren.serve.http.access import Access, digest
from warren.serve.http.browsers import ANY
from warren.serve.http.listeners import Listener, seconds
from warren.serve.http.site import SiteSettings
from warren.serve.http.startup import ServerSettings, Startup

RESOLVER = Path("/etc/resolv.conf")


def startup(config: Config, listeners: Sequence[Listener]) -> Startup:
    settings = SiteSettings(
        host=socket.gethostname(),
        allow_origin=config.general.access_control_allow_origin,
        minimum_complete=config.evaluator.minimum_complete,
        allowed_lag=config.evaluator.allowed_lag,
        clusters=list(config.clusters),
        main=v3_config.main_answers(config),
        modules=v3_config.module_answers(config),
        max_series=config.metrics.max_series,
        also=list(dict.fromkeys(config.metrics.also)),
        grafana_url=config.general.grafana_url,
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
        access=Access(
            _digest(server.read_token),
            _digest(server.write_token),
            _digest(server.report_token),
            _digest(server.silence_token),
            server.allow_writes,
        ),
        certfile=tls.certfile if tls else "",
        keyfile=tls.keyfile if tls else "",
        client_cafile=server.client_cafile,
    )


def hosts_of(config: Config, server: HttpServer) -> list[str]:
    """The names of this server that browsers may use, as far as we know them; `*`: any name.

    Any name is safe with TLS or a token: a stranger's page has neither our key nor our token.
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
    """The search domains of this machine: it may have a name in each of them."""
    try:
        lines = RESOLVER.read_text(errors="replace").splitlines()
    except OSError:
        return []
    words = (line.split() for line in lines)
    return [name for line in words if line[:1] in (["search"], ["domain"]) for name in line[1:]]


def _digest(secret: Secret) -> str:
    return digest(secret.reveal()) if secret else ""
