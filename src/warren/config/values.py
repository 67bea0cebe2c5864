"""Converts values of a file or the environment to the types of keys, as leniently as viper does.

One difference from viper: a number or a boolean that cannot be read is refused, where viper uses 0
or false. Keys are read one by one, so that one problem does not hide the next.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args, get_origin

import msgspec
from msgspec import Meta

from warren.config.files import Environment
from warren.config.findings import Findings
from warren.config.keys import Check, Key, Tolerated, keys_of, unwrap
from warren.config.secrets import MASK, FrozenMap, Secret, shown

T = TypeVar("T")

_TRUE = {"1", "t", "T", "TRUE", "true", "True"}
_FALSE = {"0", "f", "F", "FALSE", "false", "False", ""}


class RefusedValue(Exception):
    """A value that is not allowed, what is allowed, and perhaps a reason."""

    def __init__(self, value: object, allowed: str, reason: str = "") -> None:
        super().__init__(value, allowed, reason)
        self.value = value
        self.allowed = allowed
        self.reason = reason


def decode(raw: Any, plain: Any, annotations: tuple[Any, ...] = ()) -> Any:
    """Convert a raw value to a key's type and check its bounds; raises RefusedValue."""
    shape = get_origin(plain) or plain
    try:
        if shape is tuple:
            item = unwrap(get_args(plain)[0])
            return tuple(decode(each, *item) for each in _list(raw))
        value = _SHAPES[shape](raw) if shape in _SHAPES else _text(raw)
        return _checked(value, plain, annotations)
    except (ValueError, TypeError) as error:
        reason = "" if isinstance(error, _WrongKind) else str(error)
        raise RefusedValue(raw, allowed(plain, annotations), reason) from error


def allowed(plain: Any, annotations: tuple[Any, ...] = ()) -> str:
    """Describe for people what a type accepts."""
    for note in annotations:
        if isinstance(note, Check):
            return note.allowed
    if get_origin(plain) is tuple:
        return "a list, each " + allowed(*unwrap(get_args(plain)[0]))
    if get_origin(plain) is Literal:
        return "one of " + ", ".join(get_args(plain))
    bounds = [f"at least {m.ge}" for m in annotations if isinstance(m, Meta) and m.ge is not None]
    bounds += [f"at most {m.le}" for m in annotations if isinstance(m, Meta) and m.le is not None]
    return ", ".join([_KINDS.get(get_origin(plain) or plain, "a text"), *bounds])


class _WrongKind(ValueError):
    """The value has the wrong type or is out of bounds: `allowed` says enough."""


def _checked(value: Any, plain: Any, annotations: tuple[Any, ...]) -> Any:
    for note in annotations:
        if isinstance(note, Check):
            value = note.accept(value)
        elif isinstance(note, Meta):
            _check_bounds(value, Annotated[plain, note])
    if get_origin(plain) is Literal:
        _check_bounds(value, plain)
    return value


def _check_bounds(value: Any, bounds: Any) -> None:
    if isinstance(value, (FrozenMap, Secret)):
        return
    try:
        msgspec.convert(value, bounds)
    except msgspec.ValidationError as error:
        raise _WrongKind from error


def _integer(raw: Any) -> int:
    if isinstance(raw, str):
        text = raw.strip()
        whole, point, rest = text.partition(".")
        if point and not rest.strip("0"):
            text = whole
        try:
            return int(text, 10)
        except ValueError:
            return _convert(lambda: int(text, 0))
    return _convert(lambda: int(_scalar(raw)))


def _number(raw: Any) -> float:
    return _convert(lambda: float(_scalar(raw)))


def _boolean(raw: Any) -> bool:
    if isinstance(raw, bool | int | float):
        return bool(raw)
    if isinstance(raw, str) and raw in _TRUE | _FALSE:
        return raw in _TRUE
    raise _WrongKind


def _text(raw: Any) -> str:
    match raw:
        case bool():
            return "true" if raw else "false"
        case float():
            return str(int(raw)) if raw.is_integer() else str(raw)
        case dict() | list():
            raise _WrongKind
    return str(raw)


def _list(raw: Any) -> list[Any]:
    return raw if isinstance(raw, list) else _text(raw).split()


def _map(raw: Any) -> FrozenMap[str]:
    """Accept a table, or a text with a JSON object, as the environment has it."""
    table = _convert(lambda: json.loads(raw)) if isinstance(raw, str) else raw
    if not isinstance(table, dict):
        raise _WrongKind
    return FrozenMap({name: _text(value) for name, value in table.items()})


def _scalar(raw: Any) -> Any:
    if not isinstance(raw, str | int | float):
        raise _WrongKind
    return raw


def _convert(convert: Callable[[], T]) -> T:
    try:
        return convert()
    except (ValueError, OverflowError) as error:
        raise _WrongKind from error


_SHAPES: dict[Any, Callable[[Any], Any]] = {
    int: _integer,
    float: _number,
    bool: _boolean,
    FrozenMap: _map,
    Secret: lambda raw: Secret(_text(raw)),
}
_KINDS = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    FrozenMap: "a table of texts",
}


NOTHING: Mapping[str, Any] = FrozenMap()
S = TypeVar("S", bound=msgspec.Struct)


class Found(NamedTuple):
    raw: Any
    origin: str


class SectionReader:
    def __init__(self, environment: Environment, findings: Findings) -> None:
        self._environment = environment
        self._findings = findings

    def section(
        self,
        struct: type[S],
        path: str,
        table: Mapping[str, Any],
        fixed: Mapping[str, Any] = NOTHING,
    ) -> S:
        """Read one section; note a bad value, and leave its key at the default or empty."""
        values: dict[str, Any] = {"name": path.partition(".")[2]} if "." in path else {}
        for key in keys_of(struct):
            if key.name in fixed:
                self._findings.origins[f"{path}.{key.name}"] = "default"
                values[key.attribute] = fixed[key.name]
            else:
                values[key.attribute] = self._value(path, key, table)
        return struct(**values)

    def find(self, path: str, key: Key, table: Mapping[str, Any]) -> Found | None:
        """Look a key up: first in the environment, and first by its present name."""
        names = [key.name, *([key.extra["formerly"]] if "formerly" in key.extra else [])]
        for name in names:
            text = self._environment.get(f"{path}.{name}")
            if text is not None and "file_only" not in key.extra:
                return Found(
                    text, self._note_old_name(path, name, key, self._from_environment(path, name))
                )
        if key.file_name and (file := self._environment.get(f"{path}.{key.file_name}")):
            return self._read_secret(path, key, file, self._from_environment(path, key.file_name))
        for name in names:
            if table.get(name) is not None:
                return Found(table[name], self._note_old_name(path, name, key, "file"))
        if key.file_name and table.get(key.file_name) is not None:
            return self._read_secret(path, key, str(table[key.file_name]), "file")
        return None

    def _read_secret(self, path: str, key: Key, file: str, origin: str) -> Found:
        """Read a secret from a file, without the line break at its end."""
        where = f"{path}.{key.file_name}"
        self._findings.origins[where] = origin
        try:
            secret = Path(file).read_text().rstrip("\r\n")
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            problem = f"cannot be read: {reason}; must be a file with the {key.name}"
            self._findings.refuse_value(where, shown(file), problem)
            return Found(MASK, origin)  # so that the key is not reported as missing too
        if not secret:
            self._findings.refuse_value(where, shown(file), f"is empty; must hold the {key.name}")
        return Found(secret or MASK, f"{origin}, as {key.file_name}")

    def _from_environment(self, path: str, name: str) -> str:
        return f"environment {self._environment.variable(f'{path}.{name}')}"

    def _note_old_name(self, path: str, name: str, key: Key, origin: str) -> str:
        if name == key.name:
            return origin
        self._findings.warn(f"{path}.{name}", f"deprecated; use {key.name} instead")
        return f"{origin}, as {name}"

    def _value(self, path: str, key: Key, table: Mapping[str, Any]) -> Any:
        where = f"{path}.{key.name}"
        found = self.find(path, key, table)
        if found is None:
            self._findings.origins[where] = "default"
            if key.is_required:
                self._findings.refuse(
                    where, f"missing; must be {allowed(key.type, key.annotations)}"
                )
            return _fallback(key)
        self._findings.origins[where] = found.origin
        if "unused" in key.extra:
            self._findings.unused.append(f"{where}: not used; {key.extra['unused']}")
        return self._decode(where, key, found)

    def _decode(self, where: str, key: Key, found: Found) -> Any:
        try:
            return decode(found.raw, key.type, key.annotations)
        except Tolerated as tolerated:
            self._findings.warn(where, str(tolerated))
            return tolerated.replacement
        except RefusedValue as refused:
            value = MASK if _may_be_secret(key, found.raw) else shown(refused.value)
            reason = f": {refused.reason}" if refused.reason else ""
            problem = f"is not allowed{reason}; must be {refused.allowed}"
            self._findings.refuse_value(where, value, problem)
            return _fallback(key)


def _may_be_secret(key: Key, raw: Any) -> bool:
    """Say whether to mask a value; a free map that is not a table may have secrets anywhere."""
    is_free = get_origin(key.type) is FrozenMap and not isinstance(raw, Mapping)
    return key.type is Secret or is_free


def _fallback(key: Key) -> Any:
    """The value of a key that is missing or refused."""
    return key.type() if key.is_required else key.default
