"""The keys of a section: name, type, bounds, default and description, read from a Struct.

A section is a Struct; a key is a field of it, `Annotated` with what it accepts and what it means:

    intervals: Annotated[Count, key("Commits kept for each partition.")] = 10

That line is enough: reading, checking, `check-config` and the documentation follow from it.
Checks of hosts, ports and paths return the text to keep, or raise ValueError with the reason.
"""

import functools
import ipaddress
import re
import string
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, get_args, get_origin
from urllib.parse import urlsplit

import msgspec
from msgspec import NODEFAULT, Meta

from warren.config.secrets import Secret
from warren.model.group_filter import compiled

# Forms from before Kafka's versions settled on three numbers; an empty one was once the default.
_OLD = {
    "": "0.10.2.0",
    "0.8": "0.8.2.0",
    "0.8.0": "0.8.2.0",
    "0.8.1": "0.8.2.1",
    "0.8.2": "0.8.2.2",
}
_FULL = re.compile(r"0\.\d+\.\d+\.\d+|[1-9]\d*\.\d+\.\d+")
_SHORT = re.compile(r"0\.(?:9|10|11)(?:\.\d+)?")


def resolve(text: str) -> str:
    """Return the full form: `0.10` is `0.10.0.0`. Raises ValueError if it is not a version."""
    if text in _OLD:
        return _OLD[text]
    if _SHORT.fullmatch(text):
        return text + ".0" * (3 - text.count("."))
    if not _FULL.fullmatch(text):
        raise ValueError("not a Kafka version")
    return text


def kafka_version(text: str) -> str:
    """Accept a version and keep it as written, because the HTTP API shows it like that."""
    resolve(text)
    return text


_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_HOST_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_DOCKER_SERVICE = re.compile(rf"{_LABEL}_{_LABEL}")  # stack_service: one underscore, no dots
_ALL_NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+)*")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+._-]*://")
_ZOOKEEPER_PATH = re.compile(r"/|(?:/[a-zA-Z0-9_-][a-zA-Z0-9_.-]*)+")


def host_port(text: str) -> str:
    """Accept one server of a list; an IPv6 address needs its brackets."""
    if _is_several(text):
        raise ValueError("it is more than one; write a list, or separate them by spaces")
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
    """Split an address at its last colon; brackets around the host are removed."""
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
        raise ValueError("it contains blanks")
    if not parts.hostname:
        raise ValueError("the host is missing")
    if parts.port == 0:  # reading an invalid port raises ValueError
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
    """Accept the chroot of a `kafka_zk` consumer, which has `/consumers` below it."""
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


GROUP_FIELDS = ("name", "parent", "id")  # of a checkpoint


def group_template(text: str) -> str:
    """Accept a template of group names; it must tell checkpoints apart."""
    fields = [part for part in string.Formatter().parse(text) if part[1] is not None]
    for _, field, form, conversion in fields:
        if field not in GROUP_FIELDS or form or conversion:
            raise ValueError(f"there is no {{{field}{form and ':' + form}}}")
    if not fields:
        raise ValueError("all checkpoints would be one group")
    return text


class Check(NamedTuple):
    """A further condition for a text, and its description for people."""

    accept: Callable[[str], str]  # the text to keep; raises ValueError with the reason
    allowed: str


class Tolerated(Exception):
    """A value that Burrow warns about and replaces."""

    def __init__(self, warning: str, replacement: str) -> None:
        super().__init__(warning)
        self.replacement = replacement


def key(description: str, **extra: str) -> Meta:
    """Describe a key.

    `extra` may have: `unused`, why it has no effect here; `formerly`, its old name; `example`;
    `default`, if it cannot be shown as a value; `file_only`, why the environment cannot set it.
    """
    return Meta(description=description, extra=extra)


def one_of(*words: str, fold: Callable[[str], str] = str) -> Check:
    def accept(text: str) -> str:
        if fold(text) not in words:
            raise ValueError
        return fold(text)

    return Check(accept, "one of " + ", ".join(word or '""' for word in words))


def _regexp(text: str) -> str:
    compiled(text)
    return text


Seconds = Annotated[int, Meta(ge=0)]
NonNegative = Annotated[int, Meta(ge=0)]  # groups, messages and so on; 0 often means no limit
Period = Annotated[int, Meta(ge=1)]  # seconds; not 0, which would be a loop without a pause
Count = Annotated[int, Meta(ge=1)]
Port = Annotated[int, Meta(ge=1, le=65535)]
Name = Annotated[str, Check(str.lower, "the name of a section")]  # section names are lower case
Regexp = Annotated[str, Check(_regexp, "a regular expression in RE2's dialect")]
HostPort = Annotated[str, Check(host_port, "host:port, the port from 1 to 65535")]
Host = Annotated[str, Check(host, "a host name or address")]
AllowedHost = Annotated[str, Check(allowed_host, "a host name, .domain or *")]
Listen = Annotated[str, Check(listen_address, "host:port or :port, the port up to 65535")]
Url = Annotated[str, Check(url, "a URL such as https://host:port/path")]
OptionalUrl = Annotated[
    str, Check(lambda text: text and url(text), "a URL such as https://host:port/path")
]
ZookeeperPath = Annotated[
    str, Check(zookeeper_path, "a path such as /burrow, without a slash at its end")
]
ZookeeperParent = Annotated[
    str,
    Check(consumers_parent, "empty, or a path such as /kafka without a slash at its end"),
]
GroupTemplate = Annotated[str, Check(group_template, "a text with {name}, {parent} or {id} in it")]
KafkaVersion = Annotated[
    str, Check(kafka_version, "a version such as 2.8.0, or 0.10.2.0 for those before 1.0")
]


class Key(NamedTuple):
    name: str  # as in the file
    attribute: str  # as in the Struct
    type: Any  # without its annotations
    annotations: tuple[Any, ...]
    default: Any  # NODEFAULT: the key is required
    description: str
    extra: dict[str, str]

    @property
    def file_name(self) -> str:
        """The key for a file that holds the value; only secrets have one."""
        return f"{self.name}-file" if self.type is Secret else ""

    @property
    def is_required(self) -> bool:
        return self.default is NODEFAULT


@functools.cache
def keys_of(section: type[msgspec.Struct]) -> tuple[Key, ...]:
    """List the keys of a section: class-name, its own, then the group lists that many share."""
    fields = ((field, *unwrap(field.type)) for field in msgspec.structs.fields(section))
    keys = (
        Key(
            name=field.encode_name,
            attribute=field.name,
            type=plain,
            annotations=annotations,
            default=field.default,
            description=meta.description or "",
            extra=meta.extra or {},
        )
        for field, plain, annotations in fields
        for meta in annotations
        if isinstance(meta, Meta) and meta.description
    )
    return tuple(sorted(keys, key=lambda key: (key.name != "class-name", "formerly" in key.extra)))


def unwrap(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Separate a type from its annotations; drop `| None`, which is only for defaults."""
    annotations: tuple[Any, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *rest = get_args(hint)
        annotations = tuple(rest)
    options = get_args(hint)
    if type(None) in options:
        inner, more = unwrap(options[0])
        return inner, more + annotations
    return hint, annotations
