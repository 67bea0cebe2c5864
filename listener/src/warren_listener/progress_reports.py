"""What Spark says of a query -> reports as Warren takes them."""

from __future__ import annotations

import json
import math
from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, Iterator

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import SourceProgress, StreamingQueryProgress

Report = Dict[str, Any]
Offsets = Dict[str, Dict[str, int]]

EVERY_S = 30.0  # a query that lives is reported at least so often
MOST_CHARACTERS = 10_000  # of an exception; Warren keeps its first line
LEAST_CHARACTERS = 500  # of it, where only so much fits


class Reporter:
    """Makes reports. `group` is a template; raises ValueError if it cannot be filled in."""

    def __init__(
        self,
        group: str = "{name}",
        cluster: str = "",
        application: str = "",
        every_s: float = EVERY_S,
    ) -> None:
        self._every_s = every_s
        self._group, self._cluster, self._application = group, cluster, application
        try:
            sample = self._named("name", "id", "run")
        except (KeyError, IndexError, ValueError, AttributeError) as error:
            raise ValueError(
                f"group {group!r} may only have {{name}}, {{id}}, {{run_id}} and {{app}}: {error!r}"
            ) from error
        if not sample:
            raise ValueError("group is empty")

    def started(self, name: str | None, query: str, run: str, at: str) -> Report:
        return self._report(name, query, run, _time_ms(at), {})

    def progress(self, progress: StreamingQueryProgress) -> Report:
        """Where the query stands after a batch; without offsets if it does not read Kafka."""
        began_ms, took_ms = _time_ms(progress.timestamp), int(progress.batchDuration)
        news = {
            "batch": int(progress.batchId),
            "triggered_ms": began_ms,
            "batch_ms": took_ms,
            "input_rate": _rate(progress.inputRowsPerSecond),
            "processed_rate": _rate(progress.processedRowsPerSecond),
        }
        if progress.stateOperators:
            news["state_rows"] = sum(int(each.numRowsTotal) for each in progress.stateOperators)
        query, run = str(progress.id), str(progress.runId)
        report = self._report(progress.name, query, run, began_ms + took_ms, news)
        offsets = offsets_of(progress.sources)
        return {**report, "offsets": offsets, "complete": True} if offsets else report

    def terminated(
        self, name: str | None, query: str, run: str, exception: str | None, now_ms: int
    ) -> Report:
        news = {"ended": True, "error": (exception or "")[:MOST_CHARACTERS]}
        return self._report(name, query, run, now_ms, news)

    def _report(
        self, name: str | None, query: str, run: str, time_ms: int, news: dict[str, Any]
    ) -> Report:
        about = {"origin": "listener", "place": self._application, "name": name or ""}
        return {
            "group": self._named(name or query, query, run),
            **({"cluster": self._cluster} if self._cluster else {}),
            "time": time_ms,
            "query": {**about, "id": query, "run_id": run, "every_s": self._every_s, **news},
        }

    def _named(self, name: str, query: str, run: str) -> str:
        return self._group.format(name=name, id=query, run_id=run, app=self._application)


def still_alive(report: Report, now_ms: int) -> Iterator[Report]:
    """The last report of a query again, and that it lives now.

    The offsets keep their time, so they change nothing where they are known already.
    """
    if "offsets" in report:
        yield {**report, "query": None}
    without = {key: each for key, each in report.items() if key not in ("offsets", "complete")}
    yield {**without, "time": now_ms}


def partitions(report: Report) -> int:
    return sum(len(offsets) for offsets in report.get("offsets", {}).values())


def smaller(report: Report) -> list[Report]:
    """The same in two reports, or with less of the exception; nothing if neither is possible.

    Half a report is not complete: partitions that the query no longer reads are not forgotten then.
    """
    places = [
        (topic, number, offset)
        for topic, offsets in report.get("offsets", {}).items()
        for number, offset in offsets.items()
    ]
    if len(places) > 1:
        middle = len(places) // 2
        return [_part(report, places[:middle]), _part(report, places[middle:])]
    query = report.get("query") or {}
    error = query.get("error", "")
    if len(error) <= LEAST_CHARACTERS:
        return []
    return [{**report, "query": {**query, "error": error[:LEAST_CHARACTERS]}}]


def _part(report: Report, places: list[tuple[str, str, int]]) -> Report:
    offsets: Offsets = {}
    for topic, number, offset in places:
        offsets.setdefault(topic, {})[number] = offset
    return {**report, "offsets": offsets, "complete": False}


def offsets_of(sources: list[SourceProgress]) -> Offsets:
    """The next record of each partition that Kafka sources read; of two sources the one behind."""
    found: Offsets = {}
    for source in sources:
        for topic, partitions in _kafka_offsets(source).items():
            known = found.setdefault(topic, {})
            for partition, offset in partitions.items():
                known[partition] = min(offset, known.get(partition, offset))
    return found


def _kafka_offsets(source: SourceProgress) -> Offsets:
    if not source.description.startswith("Kafka") or not source.endOffset:
        return {}
    offsets = json.loads(source.endOffset)
    return {
        str(topic): {str(int(number)): int(offset) for number, offset in partitions.items()}
        for topic, partitions in offsets.items()
    }


def _time_ms(text: str) -> int:
    """Spark writes 2026-03-01T12:00:00.000Z."""
    return int(datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%f%z").timestamp() * 1000)


def _rate(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) and number >= 0 else None
