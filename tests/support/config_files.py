"""Configuration files made of a text, and what loading them gives."""

from collections.abc import Mapping
from pathlib import Path

from warren.config import Loaded, load
from warren.errors import ConfigError

MINIMAL = """
[cluster.local]
class-name = "kafka"
servers = ["localhost:9092"]
[consumer.local]
class-name = "kafka"
cluster = "local"
servers = ["localhost:9092"]
"""


def load_text(
    directory: Path, text: str, environ: Mapping[str, str] | None = None, name: str = "burrow.toml"
) -> Loaded:
    (directory / name).write_text(text, encoding="utf-8")
    return load(directory / name, environ or {})


def problems_of(
    directory: Path, text: str, environ: Mapping[str, str] | None = None, name: str = "burrow.toml"
) -> list[str]:
    """Give the problems that loading a text ends with; none if it loads."""
    try:
        load_text(directory, text, environ, name)
    except ConfigError as error:
        return error.problems
    return []
