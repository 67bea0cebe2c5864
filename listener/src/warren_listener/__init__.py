"""Tells Warren where the streaming queries of a Spark job stand.

    import warren_listener

    warren_listener.attach(spark, "http://warren:8000")

It never slows or breaks the job: events are put into a bounded queue, a thread of its own sends
them with short time-outs, and what cannot be sent in time is dropped and counted.
"""

from __future__ import annotations

import logging
import os
import weakref
from typing import TYPE_CHECKING

from warren_listener.outbox import Counts, Outbox
from warren_listener.progress_reports import Reporter
from warren_listener.query_listener import QueryListener

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__version__ = "0.1.0"
__all__ = ["Counts", "QueryListener", "attach"]

log = logging.getLogger("warren_listener")

# By session and URL.
_attached: weakref.WeakKeyDictionary[SparkSession, dict[str, QueryListener]] = (
    weakref.WeakKeyDictionary()
)


def attach(  # noqa: PLR0913  # all but two are keywords with defaults
    spark: SparkSession,
    url: str,
    *,
    token: str | None = None,
    cluster: str = "",
    group: str = "{name}",
    cafile: str | None = None,
    timeout_s: float = 2.0,
    every_s: float = 30.0,
) -> QueryListener | None:
    """Report every streaming query of this session to the Warren at `url`, from now on.

    `token` is Warren's report-token, by default what WARREN_TOKEN in the environment says.
    `cluster` names the cluster that the topics are on, where Warren takes reports for several.
    `group` is the name of the group: {name} is the query's name, or its id if it has none; {id},
    {run_id} and {app} can be used too. `timeout_s` is how long Warren may take to answer, and
    `every_s` how often a query is reported that has nothing to do; both are seconds, up to 86,400.
    A second call with the same URL replaces the first; with another URL both Warrens get all
    reports. If it cannot be attached, the reason is logged, the job goes on, and the result is
    None.
    """
    try:
        attached = _attached.setdefault(spark, {})
        if url in attached:
            attached[url].detach()
        application = spark.sparkContext.appName or ""
        given = token or os.environ.get("WARREN_TOKEN", "")
        outbox = Outbox(url, given, cafile=cafile, timeout_s=timeout_s, every_s=every_s)
        reporter = Reporter(group, cluster, application, every_s)
        listener = QueryListener(spark, outbox, reporter, _forget)
        spark.streams.addListener(listener)
        outbox.start()
        attached[url] = listener
    except Exception as error:  # noqa: BLE001  # whatever it is, the job goes on
        log.warning("not attached, so Warren does not see the queries: %s", error)
        return None
    return listener


def _forget(listener: QueryListener) -> None:
    """It is detached."""
    for attached in _attached.values():
        for url in [url for url, each in attached.items() if each is listener]:
            del attached[url]
