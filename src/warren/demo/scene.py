"""What the groups of the demo share: the broker, the traffic, and what Warren has seen."""

import threading
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field

from warren.demo.traffic import Traffic
from warren.model.board import Board
from warren.model.status import Status
from warren.model.verdicts import Verdicts

CLUSTER = "demo"


class DemoBoard:
    """What Warren has seen so far.

    A group whose state depends on what Warren sees between two commits waits for it: so the demo
    works the same on a slow machine.
    """

    def __init__(self, boards: Callable[[], Board]) -> None:
        self._boards = boards

    def status(self, group: str) -> Status:
        found = self._find(group)
        return Status(int(found[0].groups.status[found[1]])) if found else Status.NOTFOUND

    def last_commit_ms(self, group: str) -> int:
        """The time of a group's last commit that Warren has seen; 0 if it knows no such group."""
        found = self._find(group)
        return int(found[0].groups.last_commit_ms[found[1]]) if found else 0

    def _find(self, group: str) -> tuple[Verdicts, int] | None:
        """The verdicts, and the index of the group in them."""
        cluster = self._boards().clusters.get(CLUSTER)
        names = cluster.verdicts.names if cluster else ()  # sorted
        at = bisect_left(names, group)
        return (cluster.verdicts, at) if cluster and names[at : at + 1] == (group,) else None

    def end(self, topic: str) -> int:
        """The lowest log end of a topic that Warren has seen; 0 if none."""
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
    board: DemoBoard
    stop: threading.Event
    shown: threading.Event = field(default_factory=threading.Event)  # the page is announced

    def client(self, **settings: object) -> dict[str, object]:
        """Settings for a client of the broker; it logs nothing, failures are raised."""
        named = {key.replace("_", "."): value for key, value in settings.items()}
        return {"bootstrap.servers": self.bootstrap, "log_level": 0, **named}
