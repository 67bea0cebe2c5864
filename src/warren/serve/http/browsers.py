"""What a browser may ask for on behalf of the page that it shows.

A page of a stranger runs in the browser of somebody who reaches us. It may give its own name our
address and ask as if it were ours (DNS rebinding), or send us changes from where it is. Neither can
be told by the address a request comes from. Programs are no such danger, and may use any name that
leads here.
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
# Nobody can have a name of these of his own on the Internet; nor one without a dot.
PRIVATE = (".localhost", ".local", ".internal", ".svc", ".lan", ".home.arpa")
HOSTS_REMEMBERED = 1000
JSON_KINDS = ("application/json", "+json")
UNREADABLE = "\ufffd.invalid"  # as a host, nobody's


def header_of(headers: Any) -> Header:
    """Look a header up; one that is no text, as a page may make it, was sent all the same."""

    def header(name: str) -> str | None:
        value: str | None = headers.get(name)
        return UNREADABLE if value is None and name in headers else value

    return header


class Browsers:
    def __init__(self, hosts: Sequence[str], allow_origin: str) -> None:
        self._hosts = hosts  # names of ours; see `hosts_of`
        self._allow_origin = allow_origin
        self._is_ours = lru_cache(HOSTS_REMEMBERED)(self._has_name)

    def may_read(self, header: Header) -> bool:
        host = header("host")
        if host is None or self._is_ours(host) or not _is_browser(header):
            return True
        return self._allow_origin == ANY or self._is_invited(header("origin"))

    def refusal(self, site: Site, request: Request, header: Header) -> Answer | None:
        """The answer to a page of somebody else's; None to everybody else."""
        if request.method in READS:
            return None if self.may_read(header) else _unknown(site, request, header)
        if self._is_invited(header("origin")):
            return None
        if _is_browser(header) and not self._is_ours(header("host") or ""):
            return _unknown(site, request, header)
        if self._is_from_elsewhere(header):
            return site.problem(request, 403, "pages of other sites may change nothing here")
        is_unplaced = _is_browser(header) and not _says_where_from(header)
        if (request.path.startswith("/v4/") or is_unplaced) and not _is_json(header):
            return site.problem(request, 415, "a body must be JSON, and say so in Content-Type")
        return None

    def _is_invited(self, origin: str | None) -> bool:
        """Whether it is the page that `access-control-allow-origin` names."""
        return origin is not None and origin == self._allow_origin

    def _is_from_elsewhere(self, header: Header) -> bool:
        # Browsers that know this header send it over TLS and to this machine, older ones never.
        relation = header("sec-fetch-site")
        if relation is not None:
            return relation not in {"same-origin", "none"}
        origin = header("origin")
        return origin is not None and origin.partition("://")[2] != header("host")

    def _has_name(self, host: str) -> bool:
        name = _without_port(host)
        return _is_address(name) or _is_private(name) or _is_one_of(name, self._hosts)


def _is_browser(header: Header) -> bool:
    """Whether it bears what no page can keep a browser from sending.

    Over plain HTTP that is the languages of its user. Node sends languages as well, and a
    Sec-Fetch-Mode, which from a browser never comes without Sec-Fetch-Site.
    """
    if _says_where_from(header):
        return True
    if header("accept-language") is not None and header("sec-fetch-mode") is None:
        return True
    agent = header("user-agent") or ""
    return "Gecko" in agent or agent == UNREADABLE


def _says_where_from(header: Header) -> bool:
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
    """A host that begins with a dot stands for all names below it as well."""
    return any(
        each in {ANY, name} or (each.startswith(".") and f".{name}".endswith(each))
        for each in hosts
    )


def _is_json(header: Header) -> bool:
    """Whether it has no body, or one that says it is JSON: no page sends that uninvited."""
    has_body = header("transfer-encoding") is not None or header("content-length") not in {
        None,
        "0",
    }
    kind = (header("content-type") or "").partition(";")[0].strip().lower()
    return not has_body or kind.endswith(JSON_KINDS)


def _unknown(site: Site, request: Request, header: Header) -> Answer:
    name = _without_port(header("host") or "")
    text = (
        f"browsers may not ask here as {name}; if that is a name of this server, add it to "
        "allowed-hosts in its [httpserver] section"
    )
    return site.problem(request, 403, text)
