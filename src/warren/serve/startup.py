"""What a worker is told when it starts. Nothing secret is in it: tokens come as digests."""

import msgspec

from warren.serve.access import Access
from warren.serve.site import Settings


class ServerSettings(msgspec.Struct):
    """One listener."""

    fd: int
    timeout_s: int
    max_connections: int
    access: Access
    hosts: list[str]  # names under which browsers may ask; *: any
    certfile: str = ""
    keyfile: str = ""
    client_cafile: str = ""


class Startup(msgspec.Struct):
    servers: list[ServerSettings]
    settings: Settings
