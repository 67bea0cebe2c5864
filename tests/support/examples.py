"""The examples in the documents: blocks of code, and the commands in those for a shell."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    *(
        ROOT / name
        for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "listener/README.md")
    ),
    *sorted((ROOT / "docs").rglob("*.md")),
]
SHELL = {"", "bash", "console", "sh"}  # a block that is only indented is for a shell
PROMPT = "$ "


class Example(NamedTuple):
    where: str  # file and line
    language: str
    text: str


class Command(NamedTuple):
    where: str
    words: list[str]
    shows: list[str]  # what the document says that it prints; empty if it says nothing


def examples(*languages: str) -> list[Example]:
    """Those of these languages; of any, if none is named."""
    every = [example for path in DOCUMENTS for example in _of(path)]
    return [each for each in every if not languages or each.language in languages]


def _of(path: Path) -> Iterator[Example]:
    for token in MarkdownIt("commonmark").parse(path.read_text()):
        if token.type in {"fence", "code_block"} and token.map:
            where = f"{path.relative_to(ROOT)}:{token.map[0] + 1}"
            language = token.info.strip() if token.type == "fence" else ""
            yield Example(where, language, token.content)


def commands() -> list[Command]:
    return [command for example in examples(*SHELL) for command in _commands(example)]


def _commands(example: Example) -> Iterator[Command]:
    lines = re.sub(r"\\\n\s*", "", example.text).splitlines()
    shows_output = any(line.startswith(PROMPT) for line in lines)
    for number, line in enumerate(lines):
        if shows_output and not line.startswith(PROMPT):
            continue
        after = [each.strip() for each in lines[number + 1 :] if each.strip()]
        for part in _parts(line.removeprefix(PROMPT)):
            yield Command(example.where, part, after if shows_output else [])


def _parts(line: str) -> Iterator[list[str]]:
    """The commands of a line, joined by `&&`; each may be a pipe."""
    words: list[str] = []
    for word in shlex.split(line, comments=True):
        if word == "&&":
            yield words
            words = []
        else:
            words.append(word)
    if words:
        yield words
