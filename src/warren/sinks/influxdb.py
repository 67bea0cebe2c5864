"""InfluxDB: 1.x with database and user, 2 and 3 with bucket and token.

Escaping in the line protocol is Telegraf's: what the protocol cannot write, such as a line break in
a tag, becomes a backslash and an n, and a backslash at the end of a tag is left out.
"""

import json
import re
from functools import reduce

import httpx
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from warren.config import InfluxdbSink, Tls
from warren.sinks.points import (
    COUNTS,
    OWN_COUNTS,
    OWN_SECONDS,
    OWN_WORDS,
    TAGS,
    body,
    points,
)
from warren.sinks.store_delivery import StoreAnswer
from warren.sinks.store_http import Server, complaint

_BLANKS = {"\t": r"\t", "\n": r"\n", "\f": r"\f", "\r": r"\r"}
_IN_TAGS = {**_BLANKS, ",": r"\,", " ": r"\ ", "=": r"\="}


def lines(points: DataFrame) -> DataFrame:
    """One column, `text`: a line for each point, with its line break."""
    text = F.concat(
        F.col("measurement"),
        *(_tag(name) for name in TAGS),
        F.lit(" "),
        F.concat_ws(",", *_fields()),
        F.lit(" "),
        F.col("moment_ms").cast("string"),
        F.lit("000000\n"),  # nanoseconds
    )
    return points.select(text.alias("text"))


def _tag(name: str) -> Column:
    value = F.rtrim(F.col(name), F.lit("\\"))
    escaped = reduce(
        lambda text, pair: F.replace(text, F.lit(pair[0]), F.lit(pair[1])), _IN_TAGS.items(), value
    )
    # A tag must not be empty: Telegraf leaves empty ones out.
    return F.when(F.length(value) > 0, F.concat(F.lit(f",{name}="), escaped)).otherwise("")


def _fields() -> list[Column]:
    return [
        *(_count(name) for name in COUNTS),
        _word("status"),
        _count("status_code"),
        *(_count(name) for name in OWN_COUNTS),
        *(_number(name) for name in OWN_SECONDS),
        *(_word(name) for name in OWN_WORDS),
    ]


def _count(name: str) -> Column:
    return F.concat(F.lit(f"{name}="), F.col(name).cast("string"), F.lit("i"))


def _number(name: str) -> Column:
    return F.concat(F.lit(f"{name}="), F.col(name).cast("string"))


def _word(name: str) -> Column:
    return F.concat(F.lit(f'{name}="'), F.col(name), F.lit('"'))


TOO_LARGE = 413
SERIES = ("cluster", "kind", "group", "topic", "partition")
_DROPPED = re.compile(r"dropped=(\d+)")  # how many points a partial write dropped
# How the versions complain about points; other errors are about the request.
_ABOUT_POINTS = re.compile(
    r"partial write|unable to parse|parsing failed|line protocol", re.IGNORECASE
)


class InfluxDB:
    def __init__(self, settings: InfluxdbSink, tls: Tls | None) -> None:
        self._settings = settings
        token = settings.token.reveal()
        self._server = Server(settings, tls, {"Authorization": f"Token {token}"} if token else {})
        self._path, self._params = _target(settings)

    def prepare(self) -> None:
        """Send an empty write, to check the log-in and create the database.

        Some versions complain about an empty write; that does not matter.
        """
        self._server.wait_unless(self._write(b""), 200, 204)

    def texts(self, history: DataFrame) -> DataFrame:
        """Sorted by series: the store then needs half the time."""
        return lines(points(history.sortWithinPartitions(*SERIES, "moment_ms")))

    def post(self, lines: pa.Array) -> StoreAnswer:
        response = self._write(body(lines))
        self._server.wait_unless(response, 200, 204)
        if response.is_success:
            return StoreAnswer()
        reason = _reason(response)
        if response.status_code == TOO_LARGE:
            return StoreAnswer(objection="the request is too large", is_too_large=True)
        dropped = _DROPPED.search(response.text)
        if dropped and int(dropped[1]) == len(lines):
            return StoreAnswer(refused=[(place, reason) for place in range(len(lines))])
        return StoreAnswer(
            objection=reason, is_about_points=bool(_ABOUT_POINTS.search(response.text))
        )

    def _write(self, content: memoryview | bytes) -> httpx.Response:
        response = self._server.post(self._path, content, "text/plain", self._params)
        if response.status_code == 404 and self._settings.database:
            self._create_database()
            response = self._server.post(self._path, content, "text/plain", self._params)
        return response

    def _create_database(self) -> None:
        name = self._settings.database.replace("\\", "\\\\").replace('"', '\\"')
        created = self._server.request("POST", "/query", params={"q": f'CREATE DATABASE "{name}"'})
        self._server.wait_unless(
            created,
            200,
            hint="; the database does not exist: create it, or grant Warren the right to do so",
        )

    def close(self) -> None:
        self._server.close()


def _target(settings: InfluxdbSink) -> tuple[str, dict[str, str]]:
    if settings.bucket:
        org = {"org": settings.org} if settings.org else {}
        return "/api/v2/write", {**org, "bucket": settings.bucket, "precision": "ns"}
    policy = {"rp": settings.retention_policy} if settings.retention_policy else {}
    return "/write", {"db": settings.database, **policy, "precision": "ns"}


def _reason(response: httpx.Response) -> str:
    """The store's error message, without the point that it quotes."""
    text = complaint(response)
    try:
        answer = json.loads(response.text)
        text = str(answer.get("error") or answer.get("message") or text)
    except (json.JSONDecodeError, AttributeError):
        pass
    return re.sub(r"\s*dropped=\d+$", "", text.removeprefix("partial write: "))
