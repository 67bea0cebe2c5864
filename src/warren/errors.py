"""Everything raised on purpose. Errors compose their message; callers catch at the edge, by type.

WarrenError
    ConfigError         the configuration cannot be used (every problem in it, at once)
    StartError          something around us stands in the way: a busy port, a live pidfile
        JavaMissing     no Java 17 or newer
        JarsMissing     Spark's or Kafka's jars cannot be had
    SparkDied           Spark's Java process has ended, and we have to end with it
    SourceError         a source gives nothing for now; it is tried again
        Unreachable     no broker of a cluster answers
        OffsetsTopicMissing
        StreamEnded     Spark stopped reading
        GroupsHidden    brokers list no group any more
        IamMissing      Amazon's library for MSK is not installed
        NotKept         history cannot be written
        ClockBehind     history has come further than the clock
    LeadershipLost      another instance may notify; what was to be saved is not, or not surely
    StateNotKept        incidents cannot be saved, though this instance leads
        StateFileUnusable
        SharedStateFull there is more to remember than ZooKeeper takes
    NoHistory           there is no table of history, or it cannot be read
    Undelivered         a sink does not take points for now; they are sent again
    Unreadable          a record's bytes end, or make no sense, in this field
    Unanswered          a running Warren, or a cluster, cannot be asked
    GroupUnknown        nobody has heard of a group that was asked for
    SendFailed          a notifier's receiver did not take a message
        TemplateFailed  the message could not even be written
    NotifierUnknown     the configuration has no notifier of that name
"""

from collections.abc import Iterable, Sequence
from pathlib import Path


class WarrenError(Exception):
    """One line for a person: what is wrong, where, what to do."""


class ConfigError(WarrenError):
    def __init__(self, path: Path, problems: list[str]) -> None:
        super().__init__("\n".join(f"{path}: {problem}" for problem in problems))
        self.path = path
        self.problems = problems


class StartError(WarrenError):
    pass


class JavaMissing(StartError):
    def __init__(self, remedy: str) -> None:
        super().__init__(f"Java 17 or newer is needed and none was found; {remedy}")


class JarsMissing(StartError):
    def __init__(self, what: str, problem: str) -> None:
        super().__init__(
            f"cannot get the jars of {what}: {problem}; "
            "without network, set WARREN_JARS to a directory that holds them"
        )


class SparkDied(WarrenError):
    def __init__(self, code: int | None) -> None:
        """`code` is that of its Java process; None if that lives on, without a Spark in it."""
        if code is None:
            what = "Spark was stopped, as when a cluster's master removes an application"
        else:
            how = f"by signal {-code}" if code < 0 else f"with code {code}"
            what = f"Spark's Java process was ended {how}"
        super().__init__(
            f"{what}; start again, which goes on from the snapshot if there is a general.state-dir"
        )


class NoHistory(WarrenError):
    def __init__(self, directory: str) -> None:
        super().__init__(
            f"there is no history in {directory}; it begins with the first moment that Warren keeps"
        )


class Unreadable(WarrenError):
    def __init__(self, field: str) -> None:
        super().__init__(f"cannot read {field}")
        self.field = field


class SourceError(WarrenError):
    pass


class Unreachable(SourceError):
    def __init__(self, reason: str) -> None:
        super().__init__(f"no broker answers: {reason}")


class OffsetsTopicMissing(SourceError):
    def __init__(self, topic: str, cluster: str) -> None:
        super().__init__(
            f"cluster {cluster} has no readable topic {topic}; "
            "Kafka makes it when the first group commits"
        )


class GroupsHidden(SourceError):
    def __init__(self, known: int) -> None:
        super().__init__(
            f"the brokers list no group any more, and there were {known}; "
            "has the user lost the right to Describe groups?"
        )


class IamMissing(SourceError):
    def __init__(self) -> None:
        super().__init__(
            "IAM needs Amazon's library: pip install aws-msk-iam-sasl-signer-python, "
            "in the environment that Warren runs in"
        )


class NotKept(SourceError):
    def __init__(self, what: str, reason: str) -> None:
        super().__init__(f"{what}: {reason}")


class ClockBehind(SourceError):
    def __init__(self, newest_ms: int) -> None:
        super().__init__(
            f"the clock is behind the newest moment of history, {newest_ms} ms since 1970; "
            "history goes on when that has come"
        )


class StreamEnded(SourceError):
    def __init__(self, reason: str) -> None:
        super().__init__(f"the stream from Spark ended: {reason}")


class Undelivered(WarrenError):
    def __init__(self, problem: str, pause_s: float | None = None) -> None:
        super().__init__(problem)
        self.pause_s = pause_s  # as the other side wishes


class SendFailed(WarrenError):
    def __init__(self, problem: str, *, retry: bool) -> None:
        super().__init__(problem)
        self.retry = retry  # it may work later: no answer, a 500; not: a wrong password


class TemplateFailed(SendFailed):
    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}", retry=False)


class NotifierUnknown(WarrenError):
    def __init__(self, name: str, known: Iterable[str]) -> None:
        names = ", ".join(sorted(known)) or "none"
        super().__init__(f"there is no section [notifier.{name}]; there is: {names}")


class LeadershipLost(WarrenError):
    def __init__(self, reason: str) -> None:
        super().__init__(f"this instance does not notify any more: {reason}")


class StateNotKept(WarrenError):
    pass


class StateFileUnusable(StateNotKept):
    def __init__(self, path: Path, problem: object) -> None:
        super().__init__(f"{path}: {problem}; make room, mend its rights, or remove it")


class SharedStateFull(StateNotKept):
    def __init__(self) -> None:
        super().__init__(
            "the incidents do not fit into ZooKeeper; let fewer groups be notified of, or set "
            "general.notifier-lock to kafka or file"
        )


class Unanswered(WarrenError):
    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where} {why}")
        self.where = where


class GroupUnknown(WarrenError):
    def __init__(self, cluster: str, group: str, near: Sequence[str] = ()) -> None:
        where = f" in cluster {cluster}" if cluster else ""
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        super().__init__(f"there is no group {group}{where}{hint}")
        self.cluster = cluster
        self.group = group
