"""Whether what is not on a board is gone, or was only not read yet."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from warren.notify.subject import Subject


@dataclass
class Presence:
    """A subject is gone when two rounds in a row lack it.

    With `start-latest` a restart knows no group before it commits again, and a stopped one never
    does: there, one counts as gone only if this process has seen it.
    """

    reads_the_past: bool
    seen: set[Subject] = field(default_factory=set)
    missing: set[Subject] = field(default_factory=set)  # at the last round

    def note(
        self, there: Iterable[Subject], missing: Iterable[Subject], skipped: Iterable[Subject] = ()
    ) -> None:
        """What a round found; `skipped` is what it could not tell about."""
        self.missing = set(missing)
        self.seen = {*there} | (self.seen & {*self.missing, *skipped})

    def is_gone(self, subject: Subject, *, has_expired: bool) -> bool:
        was_there = self.reads_the_past or subject in self.seen or has_expired
        return subject in self.missing and was_there
