"""Sections of the file and the environment, turned into their Structs one key at a time.

One key at a time, because every problem is to be told at once.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_origin

import msgspec

from warren.config.coerce import Refused, allowed, decode
from warren.config.environment import Environment
from warren.config.findings import Findings
from warren.config.keys import Key, Tolerated, keys_of
from warren.config.secrets import MASK, FrozenMap, Secret, shown

NOTHING: Mapping[str, Any] = FrozenMap()
S = TypeVar("S", bound=msgspec.Struct)


class Found(NamedTuple):
    raw: Any
    origin: str


class Reader:
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
        """Read one section; a key that will not do is noted, and left at its default or empty."""
        values: dict[str, Any] = {"name": path.partition(".")[2]} if "." in path else {}
        for key in keys_of(struct):
            if key.name in fixed:
                self._findings.origins[f"{path}.{key.name}"] = "default"
                values[key.attribute] = fixed[key.name]
            else:
                values[key.attribute] = self._value(path, key, table)
        return struct(**values)

    def find(self, path: str, key: Key, table: Mapping[str, Any]) -> Found | None:
        """Look a key up: the environment first, and its present name before its former one."""
        names = [key.name, *([key.extra["formerly"]] if "formerly" in key.extra else [])]
        for name in names:
            text = self._environment.get(f"{path}.{name}")
            if text is not None and "file_only" not in key.extra:
                return Found(text, self._noted(path, name, key, self._from_environment(path, name)))
        if key.file_name and (file := self._environment.get(f"{path}.{key.file_name}")):
            return self._in_file(path, key, file, self._from_environment(path, key.file_name))
        for name in names:
            if table.get(name) is not None:
                return Found(table[name], self._noted(path, name, key, "file"))
        if key.file_name and table.get(key.file_name) is not None:
            return self._in_file(path, key, str(table[key.file_name]), "file")
        return None

    def _in_file(self, path: str, key: Key, file: str, origin: str) -> Found:
        """The secret in a file, without the end of its line; nobody ends a password with one."""
        where = f"{path}.{key.file_name}"
        self._findings.origins[where] = origin
        try:
            secret = Path(file).read_text().rstrip("\r\n")
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no text"
            problem = f"cannot be read: {reason}; must be a file with the {key.name}"
            self._findings.refuse_value(where, shown(file), problem)
            return Found(MASK, origin)  # so that it is not called missing as well
        if not secret:
            self._findings.refuse_value(where, shown(file), f"is empty; must hold the {key.name}")
        return Found(secret or MASK, f"{origin}, as {key.file_name}")

    def _from_environment(self, path: str, name: str) -> str:
        return f"environment {self._environment.variable(f'{path}.{name}')}"

    def _noted(self, path: str, name: str, key: Key, origin: str) -> str:
        if name == key.name:
            return origin
        self._findings.warn(f"{path}.{name}", f"deprecated; {key.name} is its name now")
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
            return _instead(key)
        self._findings.origins[where] = found.origin
        if "unused" in key.extra:
            self._findings.unused.append(f"{where}: not used; {key.extra['unused']}")
        return self._decoded(where, key, found)

    def _decoded(self, where: str, key: Key, found: Found) -> Any:
        try:
            return decode(found.raw, key.type, key.annotations)
        except Tolerated as complaint:
            self._findings.warn(where, str(complaint))
            return complaint.instead
        except Refused as refused:
            value = MASK if _may_be_secret(key, found.raw) else shown(refused.value)
            reason = f": {refused.reason}" if refused.reason else ""
            problem = f"is not allowed{reason}; must be {refused.allowed}"
            self._findings.refuse_value(where, value, problem)
            return _instead(key)


def _may_be_secret(key: Key, raw: Any) -> bool:
    """Say whether a value must not be told; of a free map only a table shows which part is not."""
    is_free = get_origin(key.type) is FrozenMap and not isinstance(raw, Mapping)
    return key.type is Secret or is_free


def _instead(key: Key) -> Any:
    """Give what stands for a value that is not to be had."""
    return key.type() if key.is_required else key.default
