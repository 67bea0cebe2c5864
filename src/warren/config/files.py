"""The configuration file: found as Burrow finds it, and read into plain tables.

Keys come out in lower case, because Burrow's are case-insensitive; values keep theirs.
"""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from warren.config import dotenv
from warren.errors import ConfigError

Table = dict[str, Any]

# The order in which Burrow tries them; those without a reader are found, and then refused.
EXTENSIONS = (
    *("json", "toml", "yaml", "yml", "properties", "props", "prop", "hcl", "tfvars"),
    *("dotenv", "env", "ini"),
)
# Spark's settings are the only keys with capitals that mean something.
_CASE_KEPT = ("spark", "conf")


def find(path: Path) -> Path:
    """Give the file to read: PATH itself, or the first `burrow.*` of a directory."""
    if not path.is_dir():
        return path
    for extension in EXTENSIONS:
        file = path / f"burrow.{extension}"
        if file.is_file():
            return file
    names = ", ".join(f"burrow.{extension}" for extension in ("toml", "json", "yaml", "yml", "env"))
    raise ConfigError(path, [f"there is no configuration here; looked for {names}"])


def read(file: Path) -> tuple[Table, list[str]]:
    """Read a file; also tells of keys that were given twice, in different case."""
    table = _parsed(file)
    if not isinstance(table, dict):
        raise ConfigError(file, ["holds no sections, such as [cluster.local]"])
    twice: list[str] = []
    return _lower(table, (), twice), twice


def _parsed(file: Path) -> Any:
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
        raise ConfigError(file, ["syntax error: values in values, too deep to read"]) from error


def _lower(table: Table, path: tuple[str, ...], twice: list[str]) -> Table:
    lowered: Table = {}
    for raw_name, raw_value in table.items():
        name = str(raw_name).lower()
        inside = (*path, name)
        if name in lowered:
            twice.append(".".join(inside))
        match raw_value:
            case dict() if inside == _CASE_KEPT:
                lowered[name] = _dotted(raw_value)
            case dict():
                lowered[name] = _lower(raw_value, inside, twice)
            case _:
                lowered[name] = raw_value
    return lowered


def _dotted(table: Table, start: str = "") -> Table:
    """Put together again what the dots of Spark's settings, unquoted, have taken apart."""
    together: Table = {}
    for name, value in table.items():
        path = f"{start}{name}"
        is_part = isinstance(value, dict) and value
        together |= _dotted(value, f"{path}.") if is_part else {path: value}
    return together


class _YamlLoader(yaml.SafeLoader):
    """Every scalar stays a text: a key's type knows best what `0.10` or `on` was to mean."""

    def construct_document(self, node: yaml.Node) -> Any:
        self.deep_construct = True  # refuses a value that holds itself
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
    "dotenv": dotenv.parse,
    "env": dotenv.parse,
}
