"""Collects everything found in a configuration, so that all problems are reported at once."""

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from warren.config.line_numbers import Lines
from warren.config.secrets import shown

WITH_LINES = ("policy.", "silence.")


def one_line(text: str) -> str:
    """Escape line breaks, so that a name or value cannot forge a line of its own."""
    return text.replace("\n", "\\n").replace("\r", "\\r")


class ConfigProblem(NamedTuple):
    path: str  # section.name.key
    text: str

    def __str__(self) -> str:
        return one_line(f"{self.path}: {self.text}")


@dataclass
class Findings:
    problems: list[ConfigProblem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    origins: dict[str, str] = field(default_factory=dict)

    def refuse(self, path: str, text: str) -> None:
        """Note a problem, unless the key already has one."""
        if all(problem.path != path for problem in self.problems):
            self.problems.append(ConfigProblem(path, text))

    def refuse_value(self, path: str, value: str, problem: str) -> None:
        """Refuse a value that is valid by itself but not in its place."""
        origin = self.origins.get(path, "")
        source = f" (from {origin})" if origin.startswith("environment") else ""
        self.refuse(path, f"{value}{source} {problem}")

    def can_use(self, path: str, file: str, read: Callable[[str], object]) -> bool:
        """Refuse FILE if READ raises ValueError for it; an empty name passes."""
        try:
            if file:
                read(file)
        except ValueError as error:
            self.refuse_value(path, shown(file), str(error))
            return False
        return True

    def warn(self, path: str, text: str) -> None:
        self.warnings.append(one_line(f"{path}: {text}"))

    def note_unknown(self, path: str, what: str, known: Iterable[str]) -> None:
        """Note an unknown key or section, with the most similar known one."""
        near = difflib.get_close_matches(path.rpartition(".")[2], list(known), n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        self.unknown.append(one_line(f"{path}: unknown {what}{hint}"))

    def add_lines(self, file: Path) -> None:
        """Name the line of each problem with a policy or a silence: a file may have hundreds."""
        has_many = any(problem.path.startswith(WITH_LINES) for problem in self.problems)
        if has_many or any(text.startswith(WITH_LINES) for text in self.unknown):
            lines = Lines.of(file)
            self.problems = [
                problem._replace(text=lines.added(problem.text, problem.path))
                if problem.path.startswith(WITH_LINES)
                else problem
                for problem in self.problems
            ]
            self.unknown = [
                lines.added(text, text.partition(": ")[0]) if text.startswith(WITH_LINES) else text
                for text in self.unknown
            ]

    def excuse(self, idle: Mapping[str, str]) -> set[str]:
        """Turn the problems of sections that nothing uses into warnings; returns those sections."""
        excused: set[str] = set()
        for problem in list(self.problems):
            section = next((name for name in idle if _is_in(problem.path, name)), None)
            if section:
                excused.add(section)
                self.problems.remove(problem)
                self.warnings.append(f"{problem} (ignored: {idle[section]})")
        return excused


def _is_in(path: str, section: str) -> bool:
    return path == section or path.startswith(f"{section}.")
