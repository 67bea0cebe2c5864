"""Spark's side: events become reports in the outbox, at once and without waiting for anything."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Callable

from pyspark.sql.streaming.listener import StreamingQueryListener

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.listener import (
        QueryIdleEvent,
        QueryProgressEvent,
        QueryStartedEvent,
        QueryTerminatedEvent,
    )

    from warren_listener.outbox import Counts, Outbox
    from warren_listener.progress_reports import Report, Reporter

log = logging.getLogger("warren_listener")


class QueryListener(StreamingQueryListener):
    """Reports the queries of one session; `counts` says what became of the reports."""

    def __init__(
        self,
        spark: SparkSession,
        outbox: Outbox,
        reporter: Reporter,
        on_detach: Callable[[QueryListener], None],
    ) -> None:
        self._session, self._outbox, self._reporter = spark, outbox, reporter
        self._on_detach = on_detach
        self._names: dict[str, str | None] = {}  # of the runs that live

    @property
    def counts(self) -> Counts:
        """Reports that were sent, refused and dropped so far, and what is wrong now."""
        return self._outbox.counts

    def detach(self) -> None:
        """Report no more."""
        self._on_detach(self)
        self._session.streams.removeListener(self)
        self._outbox.stop()

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802  # Spark's name
        self._put(lambda: self._started(event))

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        self._put(lambda: self._progress(event))

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        """Nothing has changed; the outbox repeats that the query lives."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        self._put(lambda: self._terminated(event))

    def _put(self, make: Callable[[], tuple[str, Report, bool]]) -> None:
        try:
            run, report, lives = make()
            self._outbox.put(run, report, lives=lives)
        except Exception as error:  # noqa: BLE001  # whatever it is, the job goes on
            self._outbox.drop(f"an event could not be read: {error!r}")

    def _started(self, event: QueryStartedEvent) -> tuple[str, Report, bool]:
        query, run = str(event.id), str(event.runId)
        self._names[run] = event.name
        return run, self._reporter.started(event.name, query, run, event.timestamp), True

    def _progress(self, event: QueryProgressEvent) -> tuple[str, Report, bool]:
        run = str(event.progress.runId)
        self._names[run] = event.progress.name
        return run, self._reporter.progress(event.progress), True

    def _terminated(self, event: QueryTerminatedEvent) -> tuple[str, Report, bool]:
        query, run = str(event.id), str(event.runId)
        name, now_ms = self._names.pop(run, None), int(time.time() * 1000)
        report = self._reporter.terminated(name, query, run, event.exception, now_ms)
        return run, report, False
