"""Answers of a Burrow, or of whatever else speaks only `/v3`: one request for each group."""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, cast
from urllib.parse import quote

from warren.errors import GroupUnknown
from warren.serve.v4 import shapes
from warren.terminal.questions import Answers
from warren.terminal.remote import Remote

AT_A_TIME = 8
ORDER = ("OK", "WARN", "STOP", "STALL", "REWIND")
MS = 1000

Status = dict[str, Any]  # what /v3/kafka/C/consumer/G/status has as "status"


def recognise(remote: Remote) -> Answers:
    """The answers of what listens there: Warren's own, or put together from Burrow's."""
    if remote.ask("/v4/health", also=(404,)).is_success:
        return remote
    remote.ask("/v3/kafka")
    return Burrow(remote)


class Burrow:
    def __init__(self, remote: Remote) -> None:
        self._remote = remote

    def overview(self) -> shapes.Overview:
        clusters = [_columns(name, found) for name, found in self._statuses().items()]
        return shapes.Overview(_now(), True, clusters)  # noqa: FBT003  # a Burrow does not say

    def groups(self) -> shapes.Groups:
        lines = [_line(each) for found in self._statuses().values() for each in found]
        return shapes.Groups(_now(), len(lines), lines)

    def group(self, cluster: str, group: str) -> shapes.Group:
        status = self._status(cluster, "lag", group)
        if status["status"] == "NOTFOUND":
            raise GroupUnknown(cluster, group)
        partitions = [_partition(each) for each in status["partitions"]]
        return shapes.Group(_now(), _line(status), None, [], partitions)

    def explain(self, cluster: str, group: str) -> shapes.Explanation:
        """It does not explain itself."""
        status = self._status(cluster, "status", group)["status"]
        return shapes.Explanation(_now(), cluster, group, status, why="", change="", reasons=[])

    def _statuses(self) -> dict[str, list[Status]]:
        """By cluster: what it says of each group."""
        clusters: list[str] = self._remote.ask("/v3/kafka").json()["clusters"]
        with ThreadPoolExecutor(AT_A_TIME) as pool:
            requests = {
                name: pool.map(partial(self._status, name, "status"), self._consumers(name))
                for name in sorted(clusters)
            }
            # One without partitions went between the two questions.
            return {
                name: [each for each in found if each["partition_count"]]
                for name, found in requests.items()
            }

    def _consumers(self, cluster: str) -> list[str]:
        answer = self._remote.ask(f"/v3/kafka/{quote(cluster, safe='')}/consumer")
        return sorted(answer.json()["consumers"])

    def _status(self, cluster: str, what: str, group: str) -> Status:
        path = f"/v3/kafka/{quote(cluster, safe='')}/consumer/{quote(group, safe='')}/{what}"
        return cast("Status", self._remote.ask(path, also=(404,)).json()["status"])


def _now() -> shapes.Moment:
    return shapes.Moment(int(time.time() * MS), {})


def _columns(name: str, statuses: list[Status]) -> shapes.ClusterColumns:
    worst = [each["maxlag"] for each in statuses]
    return shapes.ClusterColumns(
        name=name,
        problem="",
        group=[each["group"] for each in statuses],
        status=[each["status"] for each in statuses],
        worst=[_worst(each) for each in statuses],
        total_lag=[each["totallag"] for each in statuses],
        partition_count=[each["partition_count"] for each in statuses],
        max_lag_topic=[each["topic"] for each in worst],
        max_lag_partition=[each["partition"] for each in worst],
        max_lag=[each["current_lag"] for each in worst],
        last_commit_ms=[_committed_ms(each) for each in worst],
        owner=[each["owner"] for each in worst],
        trend=[""] * len(statuses),
    )


def _worst(status: Status) -> Any:
    bad = [part["status"] for part in status["partitions"]]
    return max(bad, key=ORDER.index, default="OK")


def _committed_ms(partition: Status) -> int:
    """Of the partition with the greatest lag; of the others it says nothing."""
    return int(partition["end"]["timestamp"]) if partition["end"] else 0


def _line(status: Status) -> shapes.GroupLine:
    worst = status["maxlag"]
    return shapes.GroupLine(
        status["cluster"],
        status["group"],
        status["status"],
        status["complete"],
        status["partition_count"],
        status["totallag"],
        shapes.MaxLag(worst["topic"], worst["partition"], worst["current_lag"]),
        _committed_ms(worst),
    )


def _partition(part: Status) -> shapes.PartitionLine:
    start, end = _commit(part["start"]), _commit(part["end"])
    return shapes.PartitionLine(
        topic=part["topic"],
        partition=part["partition"],
        status=part["status"],
        rule="",
        complete=part["complete"],
        current_lag=part["current_lag"],
        lag_trend=None,
        commit_rate=None,
        last_commit_age_s=max(time.time() - end.committed_ms / MS, 0) if end else None,
        owner=part["owner"],
        client_id=part["client_id"],
        start=start,
        end=end,
    )


def _commit(commit: Status | None) -> shapes.Commit | None:
    if commit is None:
        return None
    return shapes.Commit(
        commit["offset"], commit["timestamp"], commit.get("observedAt", 0), commit["lag"]
    )
