"""Telegraf's burrow input gets from Warren what it got from Burrow."""

import contextlib
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from compat.replay import Replay

RECORDED = json.loads(Path(__file__).with_name("telegraf.json").read_text())
STARTED_S = 1_794_772_914  # a new start of Burrow, which read all records again
GATHERED_S = 1_794_772_920
CONNECTIONS = 20
CODES = {"OK": 1, "NOT_FOUND": 2, "WARN": 3, "ERR": 4, "STOP": 5, "STALL": 6}  # none for REWIND

Point = tuple[str, dict[str, str], dict[str, str]]  # measurement, tags, fields

# Telegraf asked for these under names that Burrow did not find; they are found now.
UNFOUND = {"many topics", "유니코드"}


class Input:
    """Walks clusters, their topics and groups, as Telegraf does: `lag` of every group."""

    def __init__(self, port: int) -> None:
        self._port = port

    def gather(self) -> list[Point]:
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            clusters = self._get("")["clusters"]
            topics = [(c, t) for c in clusters for t in self._get(f"/{c}/topic")["topics"]]
            groups = [(c, g) for c in clusters for g in self._get(f"/{c}/consumer")["consumers"]]
            found = [*pool.map(self._topic, topics), *pool.map(self._group, groups)]
        return list(chain.from_iterable(found))

    def _topic(self, where: tuple[str, str]) -> list[Point]:
        cluster, topic = where
        offsets = self._get(f"/{cluster}/topic/{quote(topic, safe='')}")["offsets"]
        return [
            (
                "burrow_topic",
                {"cluster": cluster, "topic": topic, "partition": str(partition)},
                {"offset": f"{offset}i"},
            )
            for partition, offset in enumerate(offsets)
        ]

    def _group(self, where: tuple[str, str]) -> list[Point]:
        cluster, group = where
        answer = self._get(f"/{cluster}/consumer/{quote(group, safe='')}/lag")
        if answer is None:
            return []  # it skips what is not found
        status = answer["status"]
        return [_group_point(status), *_partition_points(status)]

    def _get(self, path: str) -> Any:
        with contextlib.closing(HTTPConnection("127.0.0.1", self._port, timeout=20)) as connection:
            connection.request("GET", f"/v3/kafka{path}")
            response = connection.getresponse()
            body = response.read()
        return json.loads(body) if response.status == 200 else None


def _group_point(status: dict[str, Any]) -> Point:
    end = status["maxlag"]["end"] or {"timestamp": 0}
    offsets = [each["end"]["offset"] for each in status["partitions"] if each["end"]]
    tags = {"cluster": status["cluster"], "group": status["group"]}
    fields = {
        "partition_count": f"{status['partition_count']}i",
        "total_lag": f"{status['totallag']}i",
        "lag": f"{status['maxlag']['current_lag']}i",
        "offset": f"{sum(offsets)}i",
        "timestamp": f"{end['timestamp']}i",
        **_status(status["status"]),
    }
    return "burrow_group", tags, fields


def _partition_points(status: dict[str, Any]) -> Iterator[Point]:
    for each in status["partitions"]:
        end = each["end"] or {"offset": 0, "timestamp": 0}
        tags = {
            "cluster": status["cluster"],
            "group": status["group"],
            "topic": each["topic"],
            "partition": str(each["partition"]),
            "owner": each["owner"],
        }
        fields = {
            "lag": f"{each['current_lag']}i",
            "offset": f"{end['offset']}i",
            "timestamp": f"{end['timestamp']}i",
            **_status(each["status"]),
        }
        yield "burrow_partition", {name: tag for name, tag in tags.items() if tag}, fields


def _status(name: str) -> dict[str, str]:
    return {"status": f'"{name}"', "status_code": f"{CODES.get(name, 0)}i"}


def recorded() -> list[Point]:
    return [_point(line) for line in RECORDED["influx"]]


def _point(line: str) -> Point:
    """One line of InfluxDB's line protocol, without its time."""
    series, fields, _ = re.split(r"(?<!\\) ", line)
    name, *tags = re.split(r"(?<!\\),", series)
    return name, _table(tags), _table(fields.split(","))


def _table(pairs: list[str]) -> dict[str, str]:
    plain = (re.sub(r"\\([ ,=])", r"\1", pair) for pair in pairs)
    return dict(pair.split("=", 1) for pair in plain)


def in_order(points: list[Point]) -> list[str]:
    return sorted(json.dumps(point, sort_keys=True, ensure_ascii=False) for point in points)


@pytest.mark.parametrize("replay", ["list"], indirect=True)
def test_telegraf_gathers_the_same_points(replay: Replay) -> None:
    replay.run_at(STARTED_S)
    replay.now_s = GATHERED_S
    replay.publish()

    points = [
        point for point in Input(replay.port).gather() if point[1].get("group") not in UNFOUND
    ]

    assert in_order(points) == in_order(recorded())
