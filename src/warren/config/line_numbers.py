"""On which line of a configuration file a section or a key is, for messages about it."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

import yaml

_HEADER = re.compile(r"\s*\[([^\[\]]+)\]\s*(?:#.*)?")
_KEY = re.compile(r"\s*(?:export\s+)?([\w.\"' -]+?)\s*[=:].*")
_QUOTES = str.maketrans("", "", "\"'")
MOST = 100_000  # YAML's aliases may stand for endless keys
BY_MARKS = (".yaml", ".yml", ".json")  # YAML's reader reads JSON too


class Lines:
    """Line numbers by path, such as `policy.billing.grace`."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self._numbers = numbers

    @classmethod
    def of(cls, file: Path) -> "Lines":
        """Read what can be read; nothing if the file has changed meanwhile."""
        try:
            text = file.read_text(encoding="utf-8-sig")
            by_marks = file.suffix.lower() in BY_MARKS
            return cls(dict(islice(_of_nodes(text) if by_marks else _of_text(text), MOST)))
        except (OSError, ValueError, yaml.YAMLError):
            return cls({})

    def added(self, text: str, path: str) -> str:
        """The text with the line of the key, or else of its section."""
        while path and path not in self._numbers:
            path = path.rpartition(".")[0]
        return f"{text} (line {self._numbers[path]})" if path else text


def _of_text(text: str) -> Iterator[tuple[str, int]]:
    """TOML's tables and keys, and the lines of the dotenv formats."""
    section = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if found := _HEADER.fullmatch(line):
            section = _plain(found[1])
            yield section, number
        elif found := _KEY.fullmatch(line):
            name = _plain(found[1])
            yield (f"{section}.{name}" if section else name), number


def _of_nodes(text: str) -> Iterator[tuple[str, int]]:
    root = yaml.compose(text, yaml.SafeLoader)
    waiting = [("", root)]
    while waiting:
        path, node = waiting.pop()
        for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
            inside = f"{path}.{key.value}".lower().removeprefix(".")
            yield inside, key.start_mark.line + 1
            if inside.count(".") < 3:
                waiting.append((inside, value))


def _plain(name: str) -> str:
    return ".".join(part.strip().translate(_QUOTES) for part in name.split(".")).lower()
