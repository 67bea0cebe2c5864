"""A table of the worst groups of every moment, on stdout."""

import sys
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from rich.console import Console as Terminal
from rich.markup import escape
from rich.table import Table

from warren.config import ConsoleSink
from warren.model import Status
from warren.sinks.delivery import Batch, Delivery
from warren.tables import GROUP

MOMENTS = 10  # of a batch, at most
STYLES = {Status.OK: "green", Status.WARN: "yellow", Status.ERR: "red"}


class Console:
    def __init__(self, settings: ConsoleSink) -> None:
        self._rows = settings.rows

    def deliver(self, rows: DataFrame, batch: Batch, delivery: Delivery) -> None:  # noqa: ARG002  what is shown twice does no harm
        """Show the newest moments; who is behind by many wants to see how it is now."""
        groups = rows.where(rows["kind"] == GROUP)
        counts = groups.groupBy("moment_ms").count().orderBy(F.desc("moment_ms")).take(MOMENTS)
        for moment_ms, count in reversed(counts):
            of_moment = groups.where(F.col("moment_ms") == moment_ms)
            worst = of_moment.orderBy(F.desc("status"), F.desc("lag"), "group").limit(self._rows)
            shown = table(worst.toArrow().to_pylist(), moment_ms, count - self._rows)
            Terminal(file=sys.stdout).print(shown)
            delivery.outcomes["sent"] += count
            delivery.reached(moment_ms)

    def close(self) -> None:
        """Nothing is held."""


def table(worst: list[dict[str, Any]], moment_ms: int, more: int) -> Table:
    at = datetime.fromtimestamp(moment_ms / 1000, UTC)
    left_out = f", {more} more" if more > 0 else ""
    shown = Table(title=f"{at:%Y-%m-%d %H:%M:%S} UTC{left_out}", title_justify="left")
    for name in ("cluster", "group", "status"):
        shown.add_column(name)
    for name in ("lag", "worst partition", "partitions"):
        shown.add_column(name, justify="right")
    for group in worst:
        status = Status(group["status"])
        counts = (group["lag"], group["max_lag"], group["partitions"])
        shown.add_row(
            escape(group["cluster"]),
            escape(group["group"]),
            f"[{STYLES[status]}]{status.name}",
            *(f"{count:,}" for count in counts),
        )
    return shown
