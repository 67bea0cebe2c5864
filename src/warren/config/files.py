"""Finds the file and the environment's variables as Burrow does, and reads them into plain tables.

Keys become lower case, because Burrow ignores their case; values keep theirs.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from warren.errors import ConfigError

_LINE = re.compile(
    r"""\s*(?:export\s+)?(?P<key>[\w.-]+)\s*(?:=|:\s)\s*
    (?:'(?P<single>[^']*)'|"(?P<double>(?:[^"\\]|\\.)*)"|(?P<bare>[^#]*?))\s*(?:\#.*)?""",
    re.VERBOSE,
)
_ESCAPES = {r"\n": "\n", r"\r": "\r", r"\"": '"', r"\\": "\\"}


def parse(text: str) -> dict[str, Any]:
    """Read the lines into nested tables; raises ValueError with the number of a bad line."""
    tables: dict[str, Any] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _LINE.fullmatch(line)
        if not found:
            raise ValueError(f"expected KEY=VALUE (at line {number})")
        *sections, key = found["key"].lower().split(".")
        table = tables
        for section in sections:
            table = table.setdefault(section, {})
            if not isinstance(table, dict):
                raise ValueError(f"{section} is a value and a section (at line {number})")  # noqa: TRY004  a fault of the file
        table[key] = _value(found)
    return tables


def _value(found: re.Match[str]) -> str:
    if found["single"] is not None:
        return found["single"]
    if found["double"] is not None:
        return re.sub(r"\\.", lambda m: _ESCAPES.get(m[0], m[0]), found["double"])
    return found["bare"]


class Environment:
    """The variables of one prefix. `storage.default.intervals` is BURROW_STORAGE_DEFAULT_INTERVALS.

    Empty variables are ignored. The names that were looked up are remembered, to report the others.
    """

    def __init__(self, variables: Mapping[str, str], prefix: str) -> None:
        self._variables = {name: value for name, value in variables.items() if value}
        self._prefix = prefix
        self._looked_up: set[str] = set()

    def variable(self, path: str) -> str:
        name = f"{self._prefix}_{path}" if self._prefix else path
        return name.upper().replace(".", "_").replace("-", "_")

    def get(self, path: str) -> str | None:
        name = self.variable(path)
        self._looked_up.add(name)
        return self._variables.get(name)

    def mentions(self, section: str) -> bool:
        """Say whether any variable may belong to a section."""
        start = self.variable(section) + "_"
        return any(name.startswith(start) for name in self._variables)

    def ignored(self, sections: Iterable[str]) -> list[str]:
        """List the variables that look like keys of these sections but are not."""
        if not self._prefix:
            return []
        starts = tuple(self.variable(section) + "_" for section in sections)
        return sorted(
            name
            for name in self._variables
            if name.startswith(starts) and name not in self._looked_up
        )


Table = dict[str, Any]

# In the order in which Burrow tries them; a format without a reader is found, and then refused.
EXTENSIONS = (
    *("json", "toml", "yaml", "yml", "properties", "props", "prop", "hcl", "tfvars"),
    *("dotenv", "env", "ini"),
)
# Only in the keys of Spark's settings case matters.
_CASE_KEPT = ("spark", "conf")


def find(path: Path) -> Path:
    """Return the file to read: PATH itself, or the first `burrow.*` of a directory."""
    if not path.is_dir():
        return path
    for extension in EXTENSIONS:
        file = path / f"burrow.{extension}"
        if file.is_file():
            return file
    names = ", ".join(f"burrow.{extension}" for extension in ("toml", "json", "yaml", "yml", "env"))
    raise ConfigError(path, [f"there is no configuration here; looked for {names}"])


def read(file: Path) -> tuple[Table, list[str]]:
    """Read a file; also returns the keys that it has twice, in different case."""
    table = _parse_file(file)
    if not isinstance(table, dict):
        raise ConfigError(file, ["holds no sections, such as [cluster.local]"])
    twice: list[str] = []
    return _lower(table, (), twice), twice


def _parse_file(file: Path) -> Any:
    extension = file.suffix.removeprefix(".").lower()
    if extension in EXTENSIONS and extension not in _READERS:
        readable = ", ".join(sorted(_READERS))
        raise ConfigError(file, [f"cannot read the format {extension!r}; use one of {readable}"])
    parse = _READERS[extension if extension in _READERS else "toml"]
    try:
        return parse(file.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise ConfigError(file, [f"cannot be read: {error.strerror}"]) from error
    except UnicodeDecodeError as error:
        raise ConfigError(file, [f"is not UTF-8 text: {error.reason}"]) from error
    except ValueError as error:
        raise ConfigError(file, [f"syntax error: {error}"]) from error
    except RecursionError as error:
        raise ConfigError(file, ["syntax error: values are nested too deep"]) from error


def _lower(table: Table, path: tuple[str, ...], twice: list[str]) -> Table:
    lowered: Table = {}
    for raw_name, raw_value in table.items():
        name = str(raw_name).lower()
        inside = (*path, name)
        if name in lowered:
            twice.append(".".join(inside))
        match raw_value:
            case dict() if inside == _CASE_KEPT:
                lowered[name] = _join_dotted(raw_value)
            case dict():
                lowered[name] = _lower(raw_value, inside, twice)
            case _:
                lowered[name] = raw_value
    return lowered


def _join_dotted(table: Table, start: str = "") -> Table:
    """Join the keys of Spark's settings again, which TOML splits at unquoted dots."""
    joined: Table = {}
    for name, value in table.items():
        path = f"{start}{name}"
        is_part = isinstance(value, dict) and value
        joined |= _join_dotted(value, f"{path}.") if is_part else {path: value}
    return joined


class _YamlLoader(yaml.SafeLoader):
    """Every scalar stays a text: only a key's type can say what `0.10` or `on` means."""

    def construct_document(self, node: yaml.Node) -> Any:
        self.deep_construct = True  # refuses a value that contains itself
        return super().construct_document(node)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002  PyYAML's signature
        names = [key.value for key, _ in node.value]
        for name in names:
            if names.count(name) > 1 and name != "<<":
                raise yaml.MarkedYAMLError(
                    problem=f"{name} is given twice", problem_mark=node.start_mark
                )
        return super().construct_mapping(node, deep)


_YamlLoader.yaml_implicit_resolvers = {
    first: [resolver for resolver in resolvers if resolver[0].endswith((":null", ":merge"))]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _yaml(text: str) -> Any:
    try:
        return yaml.load(text, _YamlLoader) or {}  # noqa: S506  a SafeLoader that knows fewer types
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" (at line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        raise ValueError(f"{error.problem}{where}") from error
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error


_READERS: dict[str, Callable[[str], Any]] = {
    "json": json.loads,
    "toml": tomllib.loads,
    "yaml": _yaml,
    "yml": _yaml,
    "dotenv": parse,
    "env": parse,
}
