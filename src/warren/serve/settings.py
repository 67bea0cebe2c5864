"""From the configuration to what a worker is told."""

import socket
from collections.abc import Sequence

from warren.config import Config, Secret
from warren.config.render import settings_shown
from warren.serve import config_answers
from warren.serve.access import Access, digest
from warren.serve.listeners import Listener, seconds
from warren.serve.site import Settings
from warren.serve.startup import ServerSettings, Startup


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
        access=Access(_digest(server.read_token), _digest(server.write_token), server.allow_writes),
        certfile=tls.certfile if tls else "",
        keyfile=tls.keyfile if tls else "",
        client_cafile=server.client_cafile,
    )


def _digest(secret: Secret) -> str:
    return digest(secret.reveal()) if secret else ""
