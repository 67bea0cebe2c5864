"""Everything raised on purpose. Errors compose their message; callers catch at the edge, by type.

WarrenError
    ConfigError         the configuration cannot be used (every problem in it, at once)
    StartError          something around us stands in the way: a busy port, a live pidfile
        JavaMissing     no Java 17 or newer
        JarsMissing     Spark's or Kafka's jars cannot be had
    SourceError         a source gives nothing for now; it is tried again
        Unreachable     no broker of a cluster answers
        OffsetsTopicMissing
        StreamEnded     Spark stopped reading
    Unreadable          a record's bytes end, or make no sense, in this field
"""

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


class StreamEnded(SourceError):
    def __init__(self, reason: str) -> None:
        super().__init__(f"the stream from Spark ended: {reason}")
