"""The dotenv format: `section.name.key=value` lines, dots making the sections."""

import re
from typing import Any

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
