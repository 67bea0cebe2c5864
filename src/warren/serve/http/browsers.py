"""What a browser may request on behalf of the page that it shows.

A stranger's page runs in the browser of somebody who can reach this server. It may point its own
host name at our address and read as if it were our page (DNS rebinding), or send changes from its
own site. The client's address does not show either. Programs that are not browsers are no such
danger: they may use any name that leads here.
"""

import ipaddress
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from warren.serve.http.answers import Answer, Request
from warren.serve.http.site import Site

Header = Callable[[str], str | None]

READS = ("GET", "HEAD", "OPTIONS")
ANY = "*"
# Nobody can register a name under these on the Internet, nor a name without a dot.
PRIVATE = (".localhost", ".local", ".internal", ".svc", ".lan", ".home.arpa")
HOSTS_REMEMBERED = 1000
JSON_KINDS = ("application/json", "+json")
UNREADABLE = "\ufffd.invalid"  # stands for a header that is not text; as a host it is nobody's


def header_of(headers: Any) -> Header:
    """Look a header up. One that is not text counts as sent: a page can make such a header."""

    def header(name: str) -> str | None:
        value: str | None = headers.get(name)
        return UNREADABLE if value is None and name in headers else value

    return header


class Browsers:
    def __init__(self, hosts: Sequence[str], allow_origin: str) -> None:
        self._hosts = hosts  # this server's names; see `hosts_of`
        self._allow_origin = allow_origin
        self._is_ours = lru_cache(HOSTS_REMEMBERED)(self._has_name)

    def may_read(self, header: Header) -> bool:
        host = header("host")
        if host is None or self._is_ours(host) or not _is_browser(header):
            return True
        return self._allow_origin == ANY or self._is_invited(header("origin"))

    def refusal(self, site: Site, request: Request, header: Header) -> Answer | None:
        """The answer to a request of another site's page; None if the request is allowed."""
        if request.method in READS:
            return None if self.may_read(header) else _unknown(site, request, header)
        if self._is_invited(header("origin")):
            return None
        if _is_browser(header) and not self._is_ours(header("host") or ""):
            return _unknown(site, request, header)
        if self._is_from_elsewhere(header):
            return site.problem(request, 403, "pages of other sites may not change anything here")
        is_from_anywhere = _is_browser(header) and not _has_origin(header)
        if (request.path.startswith("/v4/") or is_from_anywhere) and not _is_json(header):
            return site.problem(request, 415, "the body must be JSON, and Content-Type must say so")
        return None

    def _is_invited(self, origin: str | None) -> bool:
        """Whether `access-control-allow-origin` names this page."""
        return origin is not None and origin == self._allow_origin

    def _is_from_elsewhere(self, header: Header) -> bool:
        # Browsers send this header over TLS and to localhost; old browsers never send it.
        relation = header("sec-fetch-site")
        if relation is not None:
            return relation not in {"same-origin", "none"}
        origin = header("origin")
        return origin is not None and origin.partition("://")[2] != header("host")

    def _has_name(self, host: str) -> bool:
        name = _without_port(host)
        return _is_address(name) or _is_private(name) or _is_one_of(name, self._hosts)


def _is_browser(header: Header) -> bool:
    """Whether it has a header that every browser sends and no page can suppress.

    Over plain HTTP that is Accept-Language. Node sends that too, but with a Sec-Fetch-Mode, which
    a browser never sends without Sec-Fetch-Site.
    """
    if _has_origin(header):
        return True
    if header("accept-language") is not None and header("sec-fetch-mode") is None:
        return True
    agent = header("user-agent") or ""
    return "Gecko" in agent or agent == UNREADABLE


def _has_origin(header: Header) -> bool:
    return header("origin") is not None or header("sec-fetch-site") is not None


def _without_port(host: str) -> str:
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    return name.lower().rstrip(".")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_private(name: str) -> bool:
    return bool(name) and ("." not in name or name.endswith(PRIVATE))


def _is_one_of(name: str, hosts: Sequence[str]) -> bool:
    """A host that begins with a dot also stands for all names below it."""
    return any(
        each in {ANY, name} or (each.startswith(".") and f".{name}".endswith(each))
        for each in hosts
    )


def _is_json(header: Header) -> bool:
    """Whether it has no body or a JSON one: a page of another site cannot send JSON unasked."""
    has_body = header("transfer-encoding") is not None or header("content-length") not in {
        None,
        "0",
    }
    kind = (header("content-type") or "").partition(";")[0].strip().lower()
    return not has_body or kind.endswith(JSON_KINDS)


def _unknown(site: Site, request: Request, header: Header) -> Answer:
    name = _without_port(header("host") or "")
    text = (
        f"browsers may not use the name {name} here; if it is a name of this server, add it to "
        "allowed-hosts in its [httpserver] section"
    )
    return site.problem(request, 403, text)
