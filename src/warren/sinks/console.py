"""A table of the worst groups of every moment, on stdout."""

import sys
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame
from rich.console import Console as Terminal
from rich.markup import escape
from rich.table import Table

from warren.config import ConsoleSink
from warren.model import Status
from warren.sinks.delivery import Batch, Delivery
from warren.tables import GROUP

STYLES = {Status.OK: "green", Status.WARN: "yellow", Status.ERR: "red"}


class Console:
    def __init__(self, settings: ConsoleSink) -> None:
        self._rows = settings.rows

    def deliver(self, rows: DataFrame, batch: Batch, delivery: Delivery) -> None:  # noqa: ARG002  what is shown twice does no harm
        groups = rows.where(rows["kind"] == GROUP).toArrow().to_pylist()
        moments = sorted({group["moment_ms"] for group in groups})
        for moment_ms in moments:
            of_moment = [group for group in groups if group["moment_ms"] == moment_ms]
            Terminal(file=sys.stdout).print(table(of_moment, moment_ms, self._rows))
            delivery.reached(moment_ms)
        delivery.outcomes["sent"] += len(groups)

    def close(self) -> None:
        """Nothing is held."""


def table(groups: list[dict[str, Any]], moment_ms: int, most: int) -> Table:
    """The worst groups first: by status, then by lag."""
    at = datetime.fromtimestamp(moment_ms / 1000, UTC)
    left_out = f", {len(groups) - most} more" if len(groups) > most else ""
    shown = Table(title=f"{at:%Y-%m-%d %H:%M:%S} UTC{left_out}", title_justify="left")
    for name in ("cluster", "group", "status"):
        shown.add_column(name)
    for name in ("lag", "worst partition", "partitions"):
        shown.add_column(name, justify="right")
    worst = sorted(groups, key=lambda group: (-group["status"], -group["lag"], group["group"]))
    for group in worst[:most]:
        status = Status(group["status"])
        counts = (group["lag"], group["max_lag"], group["partitions"])
        shown.add_row(
            escape(group["cluster"]),
            escape(group["group"]),
            f"[{STYLES[status]}]{status.name}",
            *(f"{count:,}" for count in counts),
        )
    return shown
