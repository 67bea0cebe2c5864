"""Environment variables that override keys of the file, named as Burrow names them."""

from collections.abc import Iterable, Mapping


class Environment:
    """The variables of one prefix. `storage.default.intervals` is BURROW_STORAGE_DEFAULT_INTERVALS.

    Empty variables are ignored; the ones that were asked for are remembered.
    """

    def __init__(self, variables: Mapping[str, str], prefix: str) -> None:
        self._variables = {name: value for name, value in variables.items() if value}
        self._prefix = prefix
        self._asked: set[str] = set()

    def variable(self, path: str) -> str:
        name = f"{self._prefix}_{path}" if self._prefix else path
        return name.upper().replace(".", "_").replace("-", "_")

    def get(self, path: str) -> str | None:
        name = self.variable(path)
        self._asked.add(name)
        return self._variables.get(name)

    def mentions(self, section: str) -> bool:
        """Say whether any variable could be about a section."""
        start = self.variable(section) + "_"
        return any(name.startswith(start) for name in self._variables)

    def ignored(self, sections: Iterable[str]) -> list[str]:
        """List the variables that look like keys of these sections and are none."""
        if not self._prefix:
            return []
        starts = tuple(self.variable(section) + "_" for section in sections)
        return sorted(
            name for name in self._variables if name.startswith(starts) and name not in self._asked
        )
