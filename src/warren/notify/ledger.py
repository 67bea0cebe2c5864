"""All incidents, by cluster, saved where every instance can load them.

If this instance leads and cannot save them, it still sends notifications: better to send one twice,
after a restart, than not at all.
"""

from collections.abc import Mapping

import msgspec
import structlog

from warren.errors import StateNotKept
from warren.leadership.leadership import Leadership
from warren.notify.incidents import Record
from warren.notify.message import Subject

log = structlog.get_logger()

Records = dict[Subject, Record]


class Ledger:
    def __init__(self, leadership: Leadership) -> None:
        self.problem = ""  # why incidents cannot be saved or loaded, if so
        self._leadership = leadership
        self._records: dict[str, Records] = {}  # by cluster
        self._unsaved: set[Subject] = set()

    @property
    def clusters(self) -> list[str]:
        """Clusters that have records."""
        return [cluster for cluster, records in self._records.items() if records]

    @property
    def open(self) -> int:
        """How many incidents are open."""
        return sum(bool(each.id) for records in self._records.values() for each in records.values())

    def of(self, cluster: str) -> Records:
        return self._records.setdefault(cluster, {})

    def load(self) -> None:
        """Read the saved records; if that fails, keep those in memory."""
        try:
            self._records = _decode(self._leadership.load())
            self._unsaved = set()
        except StateNotKept as error:
            self._note_problem(str(error))

    def save(self, changes: Mapping[Subject, Record | None]) -> None:
        """Change records and save them; None removes one. Raises `LeadershipLost`."""
        if not changes:
            return
        for subject, record in changes.items():
            if record is None:
                self.of(subject.cluster).pop(subject, None)
            else:
                self.of(subject.cluster)[subject] = record
        self._unsaved.update(changes)
        try:
            self._leadership.save({each.key: self._encode(each) for each in self._unsaved})
        except StateNotKept as error:
            self._note_problem(str(error))
        else:
            self._unsaved = set()
            self._note_problem("")

    def _encode(self, subject: Subject) -> bytes | None:
        record = self.of(subject.cluster).get(subject)
        return None if record is None else msgspec.msgpack.encode(record)

    def _note_problem(self, problem: str) -> None:
        if problem and problem != self.problem:
            log.error("incidents are not saved", type="notifier", problem=problem)
        if self.problem and not problem:
            log.info("incidents are saved again", type="notifier")
        self.problem = problem


def _decode(saved: Mapping[str, bytes]) -> dict[str, Records]:
    records: dict[str, Records] = {}
    for key, value in saved.items():
        try:
            subject, record = Subject.of(key), msgspec.msgpack.decode(value, type=Record)
        except (ValueError, TypeError) as error:
            text = "a saved incident is unreadable and was skipped"
            log.warning(text, type="notifier", key=key, problem=str(error))
            continue
        records.setdefault(subject.cluster, {})[subject] = record
    return records
