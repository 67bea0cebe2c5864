"""Values of a file or the environment, turned into what a key wants, as leniently as viper does.

One difference: a number or a boolean that cannot be read is refused, where viper takes 0 or false.
"""

import json
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import msgspec
from msgspec import Meta

from warren.config.keys import Check, unwrap
from warren.config.secrets import FrozenMap, Secret

T = TypeVar("T")

_TRUE = {"1", "t", "T", "TRUE", "true", "True"}
_FALSE = {"0", "f", "F", "FALSE", "false", "False", ""}


class Refused(Exception):
    """A value that does not do, why (if there is more to say) and what would."""

    def __init__(self, value: object, allowed: str, reason: str = "") -> None:
        super().__init__(value, allowed, reason)
        self.value = value
        self.allowed = allowed
        self.reason = reason


def decode(raw: Any, plain: Any, annotations: tuple[Any, ...] = ()) -> Any:
    """Turn a raw value into a key's type and hold it against the key's bounds; raises Refused."""
    shape = get_origin(plain) or plain
    try:
        if shape is tuple:
            item = unwrap(get_args(plain)[0])
            return tuple(decode(each, *item) for each in _list(raw))
        value = _SHAPES[shape](raw) if shape in _SHAPES else _text(raw)
        return _within(value, plain, annotations)
    except (ValueError, TypeError) as error:
        reason = "" if isinstance(error, _Shapeless) else str(error)
        raise Refused(raw, allowed(plain, annotations), reason) from error


def allowed(plain: Any, annotations: tuple[Any, ...] = ()) -> str:
    """Say what a type accepts, for people."""
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


class _Shapeless(ValueError):
    """Not even of the kind that is wanted: `allowed` says all there is to say."""


def _within(value: Any, plain: Any, annotations: tuple[Any, ...]) -> Any:
    for note in annotations:
        if isinstance(note, Check):
            value = note.accept(value)
        elif isinstance(note, Meta):
            _hold(value, Annotated[plain, note])
    if get_origin(plain) is Literal:
        _hold(value, plain)
    return value


def _hold(value: Any, bounds: Any) -> None:
    if isinstance(value, (FrozenMap, Secret)):
        return
    try:
        msgspec.convert(value, bounds)
    except msgspec.ValidationError as error:
        raise _Shapeless from error


def _integer(raw: Any) -> int:
    if isinstance(raw, str):
        text = raw.strip()
        whole, point, rest = text.partition(".")
        if point and not rest.strip("0"):
            text = whole
        try:
            return int(text, 10)
        except ValueError:
            return _shaped(lambda: int(text, 0))
    return _shaped(lambda: int(_scalar(raw)))


def _number(raw: Any) -> float:
    return _shaped(lambda: float(_scalar(raw)))


def _boolean(raw: Any) -> bool:
    if isinstance(raw, bool | int | float):
        return bool(raw)
    if isinstance(raw, str) and raw in _TRUE | _FALSE:
        return raw in _TRUE
    raise _Shapeless


def _text(raw: Any) -> str:
    match raw:
        case bool():
            return "true" if raw else "false"
        case float():
            return str(int(raw)) if raw.is_integer() else str(raw)
        case dict() | list():
            raise _Shapeless
    return str(raw)


def _list(raw: Any) -> list[Any]:
    return raw if isinstance(raw, list) else _text(raw).split()


def _map(raw: Any) -> FrozenMap[str]:
    """Take a table, or a text that holds a JSON object, which is how the environment gives one."""
    table = _shaped(lambda: json.loads(raw)) if isinstance(raw, str) else raw
    if not isinstance(table, dict):
        raise _Shapeless
    return FrozenMap({name: _text(value) for name, value in table.items()})


def _scalar(raw: Any) -> Any:
    if not isinstance(raw, str | int | float):
        raise _Shapeless
    return raw


def _shaped(convert: Callable[[], T]) -> T:
    try:
        return convert()
    except (ValueError, OverflowError) as error:
        raise _Shapeless from error


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
