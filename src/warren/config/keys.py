"""What a key of the file is: its name, type, bounds, default and description, read off a Struct.

A section is a Struct; a key is a field of it, `Annotated` with what it accepts and what it means:

    intervals: Annotated[Count, key("Commits kept for each partition.")] = 10

That line is all it takes: reading, checking, `check-config` and the documentation follow from it.
"""

import functools
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, Meta

from warren.config import addresses, versions
from warren.config.groups import compiled
from warren.config.secrets import Secret


class Check(NamedTuple):
    """What makes a text acceptable, beyond being one, and how to say so."""

    accept: Callable[[str], str]  # the text to keep; raises ValueError with the reason
    allowed: str


class Tolerated(Exception):
    """A value that Burrow complains about and replaces."""

    def __init__(self, complaint: str, instead: str) -> None:
        super().__init__(complaint)
        self.instead = instead


def key(description: str, **extra: str) -> Meta:
    """Describe a key.

    `extra` may say: `unused`, why it does nothing here; `formerly`, its old name; `example`;
    `default`, when that is not a value; `file_only`, why the environment cannot set it.
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
Period = Annotated[int, Meta(ge=1)]  # seconds; a timer that never rests is a mistake
Count = Annotated[int, Meta(ge=1)]
Port = Annotated[int, Meta(ge=1, le=65535)]
Name = Annotated[str, Check(str.lower, "the name of a section")]  # section names are lower case
Regexp = Annotated[str, Check(_regexp, "a regular expression in RE2's dialect")]
HostPort = Annotated[str, Check(addresses.host_port, "host:port, the port from 1 to 65535")]
Host = Annotated[str, Check(addresses.host, "a host name or address")]
AllowedHost = Annotated[str, Check(addresses.allowed_host, "a host name, .domain or *")]
Listen = Annotated[str, Check(addresses.listen_address, "host:port or :port, the port up to 65535")]
Url = Annotated[str, Check(addresses.url, "a URL such as https://host:port/path")]
OptionalUrl = Annotated[
    str, Check(lambda text: text and addresses.url(text), "a URL such as https://host:port/path")
]
ZookeeperPath = Annotated[
    str, Check(addresses.zookeeper_path, "a path such as /burrow, without a slash at its end")
]
ZookeeperParent = Annotated[
    str,
    Check(addresses.consumers_parent, "empty, or a path such as /kafka without a slash at its end"),
]
KafkaVersion = Annotated[
    str, Check(versions.kafka_version, "a version such as 2.8.0, or 0.10.2.0 for those before 1.0")
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
        """The key that names a file with the value, which only secrets have."""
        return f"{self.name}-file" if self.type is Secret else ""

    @property
    def is_required(self) -> bool:
        return self.default is NODEFAULT


@functools.cache
def keys_of(section: type[msgspec.Struct]) -> tuple[Key, ...]:
    """List the keys of a section: class-name, its own, then the group lists all have."""
    described = ((field, *unwrap(field.type)) for field in msgspec.structs.fields(section))
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
        for field, plain, annotations in described
        for meta in annotations
        if isinstance(meta, Meta) and meta.description
    )
    return tuple(sorted(keys, key=lambda key: (key.name != "class-name", "formerly" in key.extra)))


def unwrap(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Part a type from its annotations; `| None`, which only a default can be, is dropped."""
    annotations: tuple[Any, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *rest = get_args(hint)
        annotations = tuple(rest)
    options = get_args(hint)
    if type(None) in options:
        inner, more = unwrap(options[0])
        return inner, more + annotations
    return hint, annotations
