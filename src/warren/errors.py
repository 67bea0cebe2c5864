"""Everything raised on purpose. Each error composes its own message; callers catch at the edge, by type.

    WarrenError
        ConfigError         the configuration cannot be used (every problem in it, at once)
        StartError          something around us stands in the way: a busy port, a live pidfile
            JavaMissing     no Java 17 or newer
            JarsMissing     Spark's or Kafka's jars cannot be had
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
