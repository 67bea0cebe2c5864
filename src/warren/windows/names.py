"""Small numbers for names, so that a partition holds an integer and not a string."""

import numpy as np

from warren.model.arrays import Ints


class Names:
    """Numbers start at zero; the number of a dropped name is used again."""

    def __init__(self, *first: str) -> None:
        self.ids: dict[str, int] = {}
        self._names: list[str] = []
        self._free: list[int] = []
        self._listed: tuple[str, ...] | None = None
        for name in first:
            self.id(name)

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, number: int) -> str:
        return self._names[number]

    def id(self, name: str) -> int:
        """The number of a name, a new one if it has none."""
        known = self.ids.get(name)
        if known is not None:
            return known
        if self._free:
            number = self._free.pop()
            self._names[number] = name
        else:
            number = len(self._names)
            self._names.append(name)
        self.ids[name] = number
        self._listed = None
        return number

    def find(self, name: str) -> int:
        """The number of a name, -1 if it has none."""
        return self.ids.get(name, -1)

    def drop(self, number: int) -> None:
        del self.ids[self._names[number]]
        self._names[number] = ""
        self._free.append(number)
        self._listed = None

    def by_number(self) -> tuple[str, ...]:
        """All names, indexed by number; a dropped one is empty."""
        if self._listed is None:
            self._listed = tuple(self._names)
        return self._listed

    def ranks(self) -> Ints:
        """By number: the index of its name in the sorted names."""
        in_order = sorted(self.ids.items())
        ranks = np.full(len(self._names), -1, np.int64)
        ranks[[number for _, number in in_order]] = np.arange(len(in_order))
        return ranks
