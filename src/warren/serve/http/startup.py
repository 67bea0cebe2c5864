"""What a worker gets when it starts; light, so that workers start quickly. It holds no secrets."""

import msgspec

from warren.serve.http.access import Access
from warren.serve.http.site import SiteSettings


class ServerSettings(msgspec.Struct):
    """One listener."""

    fd: int
    timeout_s: int
    max_connections: int
    access: Access
    hosts: list[str]  # names that browsers may use for this server; *: any
    certfile: str = ""
    keyfile: str = ""
    client_cafile: str = ""


class Startup(msgspec.Struct):
    servers: list[ServerSettings]
    settings: SiteSettings
