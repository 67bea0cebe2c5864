"""A message that is due, not written yet: nobody may ever read it, or only its line in a digest."""

from dataclasses import dataclass

from warren.evaluate.verdicts import Verdicts
from warren.model import Status
from warren.notify.incidents import Notice
from warren.notify.message import GroupResult, Line, Message
from warren.notify.result import group_result, missing_result
from warren.notify.subject import Subject

Place = tuple[Verdicts, int] | None  # where the group stands; None: it is gone


@dataclass(frozen=True)
class Wanted:
    subject: Subject
    notice: Notice
    place: Place
    reason: str = ""

    @property
    def identity(self) -> tuple[Subject, str, str]:
        """The same for one that is decided again because it has not got out yet."""
        return self.subject, self.notice.event, self.notice.id

    def message(self) -> Message:
        subject, notice = self.subject, self.notice
        return Message(
            notice.event,
            subject.cluster,
            subject.group,
            notice.id,
            notice.start_ms,
            notice.now_ms,
            self._result(),
            self.reason,
        )

    def line(self) -> Line:
        subject, notice = self.subject, self.notice
        status, total_lag = Status.NOTFOUND, 0
        if self.place is not None:
            verdicts, line = self.place
            status = Status(int(verdicts.groups.status[line]))
            total_lag = int(verdicts.groups.total_lag[line])
        return Line(
            subject.cluster,
            subject.group,
            status,
            total_lag,
            notice.id,
            notice.start_ms,
            self.reason,
        )

    def _result(self) -> GroupResult:
        cluster, group = self.subject.cluster, self.subject.group
        if self.place is None:
            return missing_result(cluster, group)
        return group_result(cluster, *self.place)
