"""All errors that we raise. An error builds its message; callers catch it at the edge, by type.

WarrenError
    ConfigError         the configuration cannot be used (all its problems at once)
    StartError          the surroundings prevent a start: a busy port, a live pidfile
        JavaMissing     no Java 17 or newer
        JarsMissing     Spark's or Kafka's jars cannot be downloaded
        NoArchive       a class archive cannot be made; all works without it, only slower
    SparkDied           Spark has ended, and we have to end too
    SourceError         a source fails for now; it is retried
        Unreachable     no broker of a cluster answers
        OffsetsTopicMissing
        StreamEnded     Spark stopped reading
        GroupsHidden    the brokers no longer list any group
        IamMissing      Amazon's library for MSK is not installed
        NotKept         history, a checkpoint or a snapshot cannot be written
        ClockBehind     the clock is before the newest history
    LeadershipLost      another instance may notify; the state may not have been saved
    StateNotKept        incidents cannot be saved, though this instance leads
        StateFileUnusable
        SharedStateFull the incidents do not fit into ZooKeeper
    NoHistory           there is no history table, or it cannot be read
    Undelivered         a sink does not accept points for now; they are sent again
    Unreadable          a field of a record is cut off or wrong
    Unanswered          a running Warren, or a cluster, does not answer
    GroupUnknown        the requested group does not exist
    SendFailed          a notification could not be delivered
        TemplateFailed  its message could not be written
    NotifierUnknown     the configuration has no notifier of that name
"""

from collections.abc import Iterable, Sequence
from pathlib import Path


class WarrenError(Exception):
    """One line for the operator: what is wrong, where, what to do."""


class ConfigError(WarrenError):
    def __init__(self, path: Path, problems: list[str]) -> None:
        super().__init__("\n".join(f"{path}: {problem}" for problem in problems))
        self.path = path
        self.problems = problems


class StartError(WarrenError):
    pass


class JavaMissing(StartError):
    def __init__(self, remedy: str) -> None:
        super().__init__(f"cannot find Java 17 or newer; {remedy}")


class JarsMissing(StartError):
    def __init__(self, what: str, problem: str) -> None:
        super().__init__(
            f"cannot get the jars of {what}: {problem}; "
            "without network, set WARREN_JARS to a directory that holds them"
        )


class NoArchive(StartError):
    pass


class SparkDied(WarrenError):
    def __init__(self, code: int | None) -> None:
        """`code` is the exit code of its Java process; None if that still runs without Spark."""
        if code is None:
            what = "Spark was stopped, perhaps by the cluster's master"
        else:
            how = f"by signal {-code}" if code < 0 else f"with code {code}"
            what = f"Spark's Java process was ended {how}"
        super().__init__(
            f"{what}; restart Warren: with a general.state-dir it resumes from the snapshot"
        )


class NoHistory(WarrenError):
    def __init__(self, directory: str) -> None:
        super().__init__(
            f"there is no history in {directory}; it starts with the first row that Warren writes"
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
            "Kafka creates it with the first commit of a group"
        )


class GroupsHidden(SourceError):
    def __init__(self, known: int) -> None:
        super().__init__(
            f"the brokers no longer list any group, and there were {known}; "
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
            f"the clock is behind the newest row of history, {newest_ms} ms since 1970; "
            "history continues when the clock has passed it"
        )


class StreamEnded(SourceError):
    def __init__(self, reason: str) -> None:
        super().__init__(f"the stream from Spark ended: {reason}")


class Undelivered(WarrenError):
    def __init__(self, problem: str, pause_s: float | None = None) -> None:
        super().__init__(problem)
        self.pause_s = pause_s  # that the other side requested


class SendFailed(WarrenError):
    def __init__(self, problem: str, *, retry: bool) -> None:
        super().__init__(problem)
        self.retry = retry  # true for a timeout or a 500, false for a wrong password


class TemplateFailed(SendFailed):
    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}", retry=False)


class NotifierUnknown(WarrenError):
    def __init__(self, name: str, known: Iterable[str]) -> None:
        names = ", ".join(sorted(known)) or "none"
        super().__init__(f"there is no section [notifier.{name}]; the notifiers are: {names}")


class LeadershipLost(WarrenError):
    def __init__(self, reason: str) -> None:
        super().__init__(f"this instance no longer notifies: {reason}")


class StateNotKept(WarrenError):
    pass


class StateFileUnusable(StateNotKept):
    def __init__(self, path: Path, problem: object) -> None:
        super().__init__(f"{path}: {problem}; free disk space, fix its permissions, or remove it")


class SharedStateFull(StateNotKept):
    def __init__(self) -> None:
        super().__init__(
            "the incidents do not fit into ZooKeeper; notify about fewer groups, or set "
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
