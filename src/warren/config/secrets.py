"""Masks secrets when they are printed, as in a log line or a traceback."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar, final

MASK = "***"

_SECRETIVE = re.compile(
    r"password|passwd|passphrase|secret|token|credential|authorization|bearer|jwt"
    r"|(?:api|access|private|account)[-_.]?key"
    # Only as whole words: `key` is masked, `keyboard` is not.
    r"|(?:^|[-_.])(?:key|pass|pwd|auth|cookie|signature)(?:$|[-_.\d])",
)
_URL = re.compile(
    r"(?P<scheme>[^:/?#]+://)(?P<user>[^/?#]*@)?(?P<host>[^/?#]*)"
    r"(?P<first>/[^/?#]*)?(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?P<fragment>#.*)?",
    re.DOTALL,
)
_PARAMETER = re.compile(r"(?P<name>[^=&]+=)?(?P<value>[^&]+)")
_TEMPLATE = re.compile(r"\{\{.*\}\}")
# Telegram's token, a key, a signature: long with digits, very long, or a pair.
_CREDENTIAL = re.compile(r"(?=.*\d).{16,}|.{32,}|.*:.*", re.DOTALL)


def is_secretive(key: str) -> bool:
    """Say whether a free key (of `extras`, `headers`, Spark's settings) sounds like a secret."""
    return _SECRETIVE.search(key.lower()) is not None


def is_secret_entry(key: str, value: object) -> bool:
    """Say whether to mask an entry: for its name, or for one of the Java options in it."""
    return is_secretive(key) or (has_java_options(key) and is_secretive(str(value)))


def has_java_options(key: str) -> bool:
    return key.lower().endswith("javaoptions")


def masked_url(url: str) -> str:
    """Mask a URL except for the parts that say where it leads; other texts pass.

    Webhooks carry their secret in the path or in a parameter, each service in its own way. So only
    the first part of the path is shown, and of the parameters only the names and the templates.
    """
    parts = _URL.fullmatch(url)
    if parts is None:
        return url
    first = parts["first"] or ""
    shown = [parts["scheme"], f"{MASK}@" if parts["user"] else "", parts["host"]]
    shown.append(f"/{MASK}" if _CREDENTIAL.fullmatch(first[1:]) else first)
    shown.append(f"/{MASK}" if parts["path"].strip("/") else parts["path"])
    if parts["query"]:
        shown.append("?" + _PARAMETER.sub(_masked_parameter, parts["query"]))
    return "".join([*shown, f"#{MASK}" if parts["fragment"] else ""])


def _masked_parameter(parameter: re.Match[str]) -> str:
    name, value = parameter["name"] or "", parameter["value"]
    return name + (value if _TEMPLATE.fullmatch(value) else MASK)


@final
class Secret:
    """A text that is masked when printed; `reveal` returns it."""

    __slots__ = ("_text",)

    def __init__(self, text: str = "") -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return MASK if self._text else "''"


V_co = TypeVar("V_co", covariant=True)


@final
class FrozenMap(Mapping[str, V_co], Generic[V_co]):
    """An immutable mapping; entries whose keys sound secret are masked when printed."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[str, V_co] | None = None) -> None:
        self._entries = dict(entries or {})

    def __getitem__(self, key: str) -> V_co:
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __hash__(self) -> int:
        return hash(frozenset(self._entries.items()))

    def __repr__(self) -> str:
        return shown(self)


def shown(value: object) -> str:
    """Write a value as in TOML, with its secrets masked."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _quoted(masked_url(value))
        case Secret():
            return _quoted(MASK if value else "")
        case tuple() | list():
            return f"[{', '.join(map(shown, value))}]"
        case Mapping():
            entries = (f"{_quoted(key)} = {_entry(key, value[key])}" for key in value)
            return f"{{ {', '.join(entries)} }}" if value else "{}"
    return str(value)


def _entry(key: str, value: object) -> str:
    return _quoted(MASK) if value and is_secret_entry(key, value) else shown(value)


def _quoted(text: str) -> str:
    # JSON's strings are TOML's basic strings, except for a bare DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
