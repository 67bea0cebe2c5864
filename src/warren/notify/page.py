"""Links into Warren's page, for whoever reads a notification."""

import socket
from urllib.parse import quote

from warren.config import Config


def page_url(config: Config) -> str:
    """Where people reach this instance; empty when nobody can tell."""
    if config.general.external_url:
        return config.general.external_url
    server = next(iter(config.httpservers.values()), None)
    if server is None:
        return ""
    host, _, port = server.address.rpartition(":")
    if port == "0":
        return ""  # any port that is free: nobody will find it
    if host.strip("[]") in {"", "0.0.0.0", "::"}:  # noqa: S104  every address: by name, then
        host = socket.gethostname()
    return f"{'https' if server.tls else 'http'}://{host}:{port}"


def group_url(page: str, cluster: str, group: str) -> str:
    """The page of a group; the page itself for no group in particular."""
    if not page or not group:
        return page
    names = (quote(name, safe="", errors="replace") for name in (cluster, group))
    return f"{page}/#/group/{'/'.join(names)}"
