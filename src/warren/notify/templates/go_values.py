"""Python values that behave in a template as Burrow's Go values do."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from gotime.go import LOCAL, Time
from gotpl import GoFormatSpec, GoPointer
from gotpl.errors import TemplateExecutionError
from gotpl.runtime.gofmt import sprintf

from warren.model.status import Status

# Printed <nil>, false to `if` and `with`; its fields have no value.
NIL: GoPointer[object] = GoPointer(None, "protocol.PartitionStatus")


def format_value(spec: GoFormatSpec, value: object) -> str:
    """Format a value as Go's printf would."""
    precision = "" if spec.precision is None else f".{spec.precision}"
    return sprintf(f"%{spec.flags}{spec.width or ''}{precision}{spec.verb}", value)


class Struct:
    """Fields by Go's names; an unknown field fails the template, as in Go.

    Fields of Warren's own can be asked for; a struct that is printed as a whole is Burrow's.
    """

    def __init__(
        self,
        name: str,
        fields: Mapping[str, object],
        json: object,
        own: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        self._name = name
        self._fields = fields
        self._own = own
        self.json = json  # what `jsonencoder` writes

    def field(self, name: str) -> Any:
        if name in self._fields:
            return self._fields[name]
        if name in self._own:
            return self._own[name]
        raise TemplateExecutionError(f"there is no field {name} in {self._name}")

    __gotemplate_lookup__ = field

    def __str__(self) -> str:
        return "{" + " ".join(map(str, self._fields.values())) + "}"


class Lag(Struct):
    """A pointer to a struct with one number: printed as `{123}`, by printf as `&{123}`."""

    def __init__(self, value: int) -> None:
        super().__init__("a lag", {"Value": value}, value)

    def __go_format__(self, spec: GoFormatSpec) -> str:
        return format_value(spec, f"&{self}") if spec.verb in "sv" else f"&{self}"


class StatusValue(int):
    """Compares as a number, prints as a name."""

    def __str__(self) -> str:
        return Status(self).name

    @property
    def json(self) -> str:
        return str(self)

    def __gotemplate_lookup__(self, field: str) -> Callable[[], str]:
        if field != "String":
            raise TemplateExecutionError(f"there is no field {field} in a status")
        return self.__str__

    def __go_format__(self, spec: GoFormatSpec) -> str:
        return format_value(spec, str(self) if spec.verb in "svq" else int(self))


class Table(dict[str, Any]):
    """A map: for a missing key `index` returns Go's zero value, and `.key` has no value."""

    def __init__(self, entries: Mapping[str, object], zero: object) -> None:
        super().__init__(entries)
        self._zero = zero

    @property
    def json(self) -> dict[str, object]:
        return {key: self[key] for key in sorted(self)}

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str)

    def __missing__(self, key: str) -> object:
        return self._zero

    def __gotemplate_lookup__(self, field: str) -> object:
        return dict(self)[field]


class GoTime:
    """A `time.Time` in the local zone, as in Burrow."""

    def __init__(self, time: Time) -> None:
        self.time = time

    @classmethod
    def at(cls, ms: int) -> "GoTime":
        return cls(Time.from_unix_milliseconds(ms, location=LOCAL))

    @classmethod
    def never(cls) -> "GoTime":
        return cls(Time.zero())

    @property
    def json(self) -> str:
        return self.time.format("2006-01-02T15:04:05.999999999Z07:00")

    def __str__(self) -> str:
        return self.time.format("2006-01-02 15:04:05.999999999 -0700 MST")

    def __go_format__(self, spec: GoFormatSpec) -> str:
        return format_value(spec, str(self))

    def __gotemplate_lookup__(self, field: str) -> object:
        if field in _MOMENT_METHODS:
            return getattr(self, _MOMENT_METHODS[field])
        if field in _TIME_PARTS:
            return getattr(self.time, _TIME_PARTS[field])
        raise TemplateExecutionError(f"Warren knows no method {field} of a time")

    def format(self, layout: str) -> str:
        return self.time.format(layout)

    def utc(self) -> "GoTime":
        return GoTime(self.time.utc())

    def local(self) -> "GoTime":
        return GoTime(self.time.in_location(LOCAL))

    def before(self, other: "GoTime") -> bool:
        return self.time.before(other.time)

    def after(self, other: "GoTime") -> bool:
        return self.time.after(other.time)

    def equal(self, other: "GoTime") -> bool:
        return self.time.equal(other.time)

    def add_date(self, years: int, months: int, days: int) -> "GoTime":
        return GoTime(self.time.add_date(years, months, days))

    def sub(self, other: "GoTime") -> object:
        return self.time.subtract(other.time)


_MOMENT_METHODS = {
    "Format": "format",
    "String": "__str__",
    "UTC": "utc",
    "Local": "local",
    "Before": "before",
    "After": "after",
    "Equal": "equal",
    "Sub": "sub",
    "AddDate": "add_date",
}
_TIME_PARTS = {
    "Year": "year",
    "Month": "month",
    "Day": "day",
    "Hour": "hour",
    "Minute": "minute",
    "Second": "second",
    "Weekday": "weekday",
    "YearDay": "year_day",
    "IsZero": "is_zero",
    "Unix": "unix",
    "UnixMilli": "unix_milliseconds",
    "UnixMicro": "unix_microseconds",
    "UnixNano": "unix_nanoseconds",
}
