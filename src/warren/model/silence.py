"""Silences: nobody is notified about some groups, for a while or at some hours of the week."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from warren.model.name_patterns import NamePatterns
from warren.model.schedules import read_schedule

Kind = Literal["silence", "acknowledgement"]  # an acknowledgement says that somebody works on it


class Silence(Struct, frozen=True, kw_only=True):
    id: str
    kind: Kind = "silence"
    clusters: tuple[str, ...] = ()  # names and regular expressions; all if there are none
    groups: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()  # that policies name
    begin_s: float = 0
    end_s: float | None = None  # None: it lasts as long as it is configured
    hours: str = ""  # a schedule's; empty: all hours
    time_zone: str = "UTC"
    comment: str = ""
    author: str = ""
    created_s: float = 0

    def is_over(self, now_s: float) -> bool:
        return self.end_s is not None and now_s >= self.end_s

    def holds(self, now_s: float) -> bool:
        if now_s < self.begin_s or self.is_over(now_s):
            return False
        return not self.hours or read_schedule(self.hours, self.time_zone).expects_work(now_s)


class Silences:
    """Those that hold at one moment, ready to be asked about group after group."""

    def __init__(self, silences: Iterable[Silence], cluster: str, now_s: float) -> None:
        holding = [each for each in silences if each.holds(now_s)]
        of_cluster = NamePatterns([each.clusters for each in holding]).matching(cluster)
        self._silences: Sequence[Silence] = [holding[at] for at in sorted(of_cluster)]
        self._groups = NamePatterns([each.groups for each in self._silences])
        self._owners = NamePatterns([each.owners for each in self._silences])

    def __bool__(self) -> bool:
        return bool(self._silences)

    def of(self, group: str, owner: str) -> Silence | None:
        """The first silence of a group."""
        if not self._silences:
            return None
        found = self._groups.matching(group) & self._owners.matching(owner)
        return self._silences[min(found)] if found else None


def by_id(silences: Iterable[Silence]) -> Mapping[str, Silence]:
    return {each.id: each for each in silences}
