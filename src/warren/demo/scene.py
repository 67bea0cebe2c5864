"""What every group of the demo has at hand."""

import threading
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field

from warren.demo.traffic import Traffic
from warren.model.board import Board
from warren.model.status import Status
from warren.model.verdicts import Verdicts

CLUSTER = "demo"


class Eyes:
    """What Warren has seen by now.

    A group whose story depends on what Warren sees between two commits waits for it: so the story
    comes out the same however slow the machine.
    """

    def __init__(self, boards: Callable[[], Board]) -> None:
        self._boards = boards

    def status(self, group: str) -> Status:
        found = self._find(group)
        return Status(int(found[0].groups.status[found[1]])) if found else Status.NOTFOUND

    def last_commit_ms(self, group: str) -> int:
        """When a group committed last, as far as Warren knows; 0 if it knows no such group."""
        found = self._find(group)
        return int(found[0].groups.last_commit_ms[found[1]]) if found else 0

    def _find(self, group: str) -> tuple[Verdicts, int] | None:
        """What was judged, and the number of the group in it."""
        cluster = self._boards().clusters.get(CLUSTER)
        names = cluster.verdicts.names if cluster else ()  # sorted
        at = bisect_left(names, group)
        return (cluster.verdicts, at) if cluster and names[at : at + 1] == (group,) else None

    def end(self, topic: str) -> int:
        """The lowest log end of a topic that Warren knows; 0 if it knows none."""
        cluster = self._boards().clusters.get(CLUSTER)
        if cluster is None or topic not in cluster.ends.topics:
            return 0
        at = cluster.ends.topics.index(topic)
        ends = cluster.ends.end[cluster.ends.first[at] : cluster.ends.first[at + 1]]
        return max(int(ends.min(initial=2**62)), 0)


@dataclass(frozen=True)
class Scene:
    bootstrap: str
    traffic: Traffic
    eyes: Eyes
    stop: threading.Event
    shown: threading.Event = field(default_factory=threading.Event)  # people look at it

    def client(self, **settings: object) -> dict[str, object]:
        """What any client of the broker needs; it keeps quiet, failures come back as exceptions."""
        named = {key.replace("_", "."): value for key, value in settings.items()}
        return {"bootstrap.servers": self.bootstrap, "log_level": 0, **named}
