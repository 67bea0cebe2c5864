"""Sinks: first the keys of all, then one Struct for each class-name.

A new class needs a Struct here, a line in `SINKS`, and its delivery in `warren.sinks.stream`.
"""

import re
from typing import Annotated

from warren.config.keys import Check, Count, Name, Period, Url, key
from warren.config.secrets import Secret
from warren.config.sections import NamedSection
from warren.model import times

EARLIEST, LATEST = "earliest", "latest"
_INDEX = re.compile(r"[a-z0-9.][a-z0-9._-]*(?:%[YymdH][a-z0-9._-]*)*")


def _since(text: str) -> str:
    if text not in {EARLIEST, LATEST}:
        times.moment(text, now_ms=0)
    return text


def _index(text: str) -> str:
    if not _INDEX.fullmatch(text):
        raise ValueError
    return text


Since = Annotated[
    str, Check(_since, "latest, earliest, a time before now such as 24h, or a date or time")
]
Index = Annotated[
    str,
    Check(
        _index,
        "lower-case letters, digits, dots, dashes and underscores, then optionally %Y, %y, %m, %d "
        "and %H",
    ),
]


class Sink(NamedSection, frozen=True, kw_only=True):
    class_name: Annotated[str, key("The kind of receiver.")]
    since: Annotated[
        Since,
        key(
            "Where a new sink starts in history: with the next moment, with the oldest, or at a "
            "time. It has an effect only when the sink runs for the first time."
        ),
    ] = LATEST


class HttpSink(Sink, frozen=True, kw_only=True):
    """A sink that is a server."""

    url: Annotated[Url, key("The server.", example="http://localhost:8086")]
    username: Annotated[str, key("User name.", example="warren")] = ""
    password: Annotated[Secret, key("Password.", example="secret")] = Secret()
    tls: Annotated[
        Name,
        key(
            "The `tls` section to connect with; its certfile is presented to the server.",
            example="mytls",
        ),
    ] = ""
    timeout: Annotated[Period, key("Seconds to wait for a reply.")] = 30
    batch: Annotated[Count, key("At most this many points in a request.")] = 5000


class InfluxdbSink(HttpSink, frozen=True, kw_only=True):
    database: Annotated[
        str, key("InfluxDB 1.x: the database; Warren creates it if need be.", example="burrow")
    ] = ""
    retention_policy: Annotated[
        str, key("InfluxDB 1.x: its retention policy, if not the default one.", example="autogen")
    ] = ""
    bucket: Annotated[str, key("InfluxDB 2 and 3: the bucket.", example="burrow")] = ""
    org: Annotated[str, key("InfluxDB 2: the organisation.", example="example")] = ""
    token: Annotated[
        Secret, key("InfluxDB 2 and 3: the token, instead of a user.", example="secret")
    ] = Secret()


class ElasticsearchSink(HttpSink, frozen=True, kw_only=True):
    api_key: Annotated[
        Secret,
        key("API key, encoded as the server returns it, instead of a user.", example="secret"),
    ] = Secret()
    index: Annotated[Index, key("Name of the index, with the time of each point filled in.")] = (
        "telegraf-%Y.%m.%d"
    )
    manage_template: Annotated[
        bool, key("Install the index template that gives the fields their types.")
    ] = True


class FilesSink(Sink, frozen=True, kw_only=True):
    directory: Annotated[
        str,
        key(
            "Where to write: a directory, or a URL that Spark can write to.",
            example="s3a://bucket/lag",
        ),
    ]


class ConsoleSink(Sink, frozen=True, kw_only=True):
    rows: Annotated[Count, key("Groups to show of each moment, the worst first.")] = 20


SINKS: dict[str, type[Sink]] = {
    "influxdb": InfluxdbSink,
    "elasticsearch": ElasticsearchSink,
    # Has the fewest keys, and is therefore the one to check after a wrong class-name.
    "console": ConsoleSink,
    "parquet": FilesSink,
    "delta": FilesSink,
}
