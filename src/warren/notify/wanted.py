"""A message that is due, not written yet: nobody may ever read it, or only its line in a digest."""

from dataclasses import dataclass, replace

from warren.evaluate.verdicts import Verdicts
from warren.model import Status
from warren.notify.incidents import Notice
from warren.notify.message import GroupResult, Line, Message
from warren.notify.result import group_result, missing_result
from warren.notify.subject import Subject

# Where the group stands, or how it stood; None: it is gone.
Place = tuple[Verdicts, int] | GroupResult | None


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

    def settled(self) -> "Wanted":
        """The same, without holding on to all verdicts of its moment."""
        return replace(self, place=self._result()) if self.place else self

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
        status, total_lag = self._standing()
        return Line(
            subject.cluster,
            subject.group,
            status,
            total_lag,
            notice.id,
            notice.start_ms,
            self.reason,
        )

    def _standing(self) -> tuple[Status, int]:
        match self.place:
            case None:
                return Status.NOTFOUND, 0
            case GroupResult(status=status, total_lag=total_lag):
                return status, total_lag
            case verdicts, line:
                groups = verdicts.groups
                return Status(int(groups.status[line])), int(groups.total_lag[line])

    def _result(self) -> GroupResult:
        cluster, group = self.subject.cluster, self.subject.group
        match self.place:
            case None:
                return missing_result(cluster, group)
            case GroupResult() as result:
                return result
            case verdicts, line:
                return group_result(cluster, verdicts, line)
