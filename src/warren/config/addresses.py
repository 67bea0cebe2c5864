"""Hosts, ports and ZooKeeper paths, accepted as Burrow accepts them.

Each function returns the text to keep or raises ValueError with the reason.
"""

import ipaddress
import re
from urllib.parse import urlsplit

_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_HOST_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_DOCKER_SERVICE = re.compile(rf"{_LABEL}_{_LABEL}")  # stack_service: one underscore, no dots
_ALL_NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+)*")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+._-]*://")
_ZOOKEEPER_PATH = re.compile(r"/|(?:/[a-zA-Z0-9_-][a-zA-Z0-9_.-]*)+")


def host_port(text: str) -> str:
    """Accept one server of a list; an IPv6 address needs its brackets."""
    if _is_several(text):
        raise ValueError("it is more than one; a list is written as a list, or with spaces")
    host, port = split(text)
    _check_host(host)
    _check_port(port, lowest=1)
    return text


def listen_address(text: str) -> str:
    """Accept where a server listens: no host means every address, port 0 a free one."""
    host, port = split(text)
    if host:
        _check_host(host)
    _check_port(port, lowest=0)
    return text


def split(text: str) -> tuple[str, str]:
    """Part an address at its last colon; brackets around the host are removed."""
    if _is_several(text):
        raise ValueError("it is more than one")
    if scheme := _SCHEME.match(text):
        raise ValueError(f"write host:port, without {scheme[0]}")
    host, colon, port = text.rpartition(":")
    if not colon:
        raise ValueError("the port is missing")
    if host.startswith("[") and host.endswith("]"):
        return str(ipaddress.IPv6Address(host[1:-1].partition("%")[0])), port
    if ":" in host:
        raise ValueError("an IPv6 address needs brackets: [::1]:9092")
    return host, port


def host(text: str) -> str:
    """Accept a server whose port is given elsewhere."""
    if scheme := _SCHEME.match(text):
        raise ValueError(f"write the host alone, without {scheme[0]}")
    _check_host(split(f"{text}:1")[0])
    return text


def url(text: str) -> str:
    """Accept the address of an HTTP server; a slash at its end is dropped."""
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"}:
        raise ValueError("it does not begin with http:// or https://")
    if re.search(r"[\s\x00-\x1f\x7f]", text):
        raise ValueError("it has blanks in it")
    if not parts.hostname:
        raise ValueError("the host is missing")
    if parts.port == 0:  # and what is no port raises ValueError here
        raise ValueError("port 0 is out of range")
    return text.rstrip("/")


def host_name(text: str) -> str:
    """Accept an RFC 1123 name or `label_label`, as Docker names its services."""
    if not _HOST_NAME.fullmatch(text) and not _DOCKER_SERVICE.fullmatch(text):
        raise ValueError(f"{text!r} is not a host name")
    return text


def allowed_host(text: str) -> str:
    """Accept a name, a domain that begins with a dot, or `*` for any name."""
    if text != "*":
        host_name(text.removeprefix("."))
    return text.lower()


def zookeeper_path(text: str) -> str:
    if not _ZOOKEEPER_PATH.fullmatch(text):
        raise ValueError("not a ZooKeeper path")
    return text


def consumers_parent(text: str) -> str:
    """Accept the chroot of a `kafka_zk` consumer, below which `/consumers` is looked for."""
    zookeeper_path(f"{text}/consumers")
    return text


def _is_several(text: str) -> bool:
    return re.search(r"[,;\s]", text) is not None


def _check_host(host: str) -> None:
    if not host:
        raise ValueError("the host is missing")
    if ":" in host:
        ipaddress.IPv6Address(host)
    elif _ALL_NUMBERS.fullmatch(host):
        ipaddress.IPv4Address(host)
    else:
        host_name(host)


def _check_port(port: str, lowest: int) -> None:
    if not re.fullmatch("[+-]?[0-9]+", port):
        raise ValueError(f"port {port!r} is not a number")
    if not lowest <= int(port) <= 65535:
        raise ValueError(f"port {port} is out of range, {lowest} to 65535")
