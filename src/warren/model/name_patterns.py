"""Lists of names and of regular expressions that match a whole name, as policies have them.

A text without any special character is a name. Any other is a regular expression, and also the name
that it spells: `orders.v1` matches the topic of that name in both ways.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import re2

from warren.model.group_filter import compile_pattern
from warren.model.kafka_names import readable

_PLAIN = re.compile(r"[\w -]*", re.ASCII)
MOST_IN_A_SET = 200  # expressions; a larger set may need more memory than RE2 allows it
SET_BYTES = 64 << 20


def check_pattern(text: str) -> str:
    """Return the text; raises ValueError with RE2's reason if it is no regular expression."""
    compile_pattern(text)
    return text


class NamePatterns:
    """Which of several lists a name matches; an empty list matches every name.

    All expressions of all lists are matched at once, so that hundreds of lists cost little more
    than one.
    """

    def __init__(self, lists: Sequence[Iterable[str]]) -> None:
        every = [tuple(each) for each in lists]
        self._always = frozenset(at for at, each in enumerate(every) if not each)
        self._of_name: dict[str, set[int]] = {}
        expressions: list[tuple[int, str]] = []
        for at, texts in enumerate(every):
            for text in texts:
                self._of_name.setdefault(readable(text), set()).add(at)
                if not _PLAIN.fullmatch(text):
                    expressions.append((at, text))
        parts = range(0, len(expressions), MOST_IN_A_SET)
        self._sets = [_Set(expressions[first : first + MOST_IN_A_SET]) for first in parts]

    def matching(self, name: str) -> frozenset[int]:
        """The places of the lists that match."""
        name = readable(name)
        found = self._always.union(self._of_name.get(name, ()))
        return found.union(*(each.matching(name) for each in self._sets)) if self._sets else found


class _Set:
    def __init__(self, expressions: Sequence[tuple[int, str]]) -> None:
        self._lists = [at for at, _ in expressions]
        options = re2.Options()
        options.log_errors = False
        options.max_mem = SET_BYTES
        self._set: Any = re2.Set.FullMatchSet(options)
        for _, text in expressions:
            self._set.Add(text)
        self._set.Compile()

    def matching(self, name: str) -> set[int]:
        return {self._lists[at] for at in self._set.Match(name) or ()}
