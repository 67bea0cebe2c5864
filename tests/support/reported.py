"""A consumer that takes reports, its cluster with topics and log ends, and reports for it."""

from collections.abc import Callable

import pyarrow as pa

from warren.config.modules import HttpConsumer
from warren.evaluate.judge import JudgeSettings
from warren.model.board import ClusterBoard, StoredWindows
from warren.model.offset_reports import QueryNews, Report
from warren.model.window_arrays import WindowArrays
from warren.pipeline.cluster import Accepts, ClusterState
from warren.pipeline.consumers import Sources
from warren.pipeline.reported_offsets import ReportedConsumer
from warren.pipeline.steps import judge_cluster
from warren.serve.board_file.commits_file import CommitsFile
from warren.sources.log_ends import TopicListing
from warren.windows.limits import Limits
from warren.windows.windows import Windows

NOW_S = 1_700_000_000
DEFAULT = JudgeSettings()
NOW_MS = NOW_S * 1000


class Clock:
    def __init__(self) -> None:
        self.now_s = float(NOW_S)

    def __call__(self) -> float:
        return self.now_s


def consumer(
    cluster: str = "local",
    max_groups: int = 3,
    accepts: Accepts | None = None,
    clock: Callable[[], float] | None = None,
) -> ReportedConsumer:
    """`orders` has two partitions that end at 100, `bills` one that ends at 50."""
    windows = Windows(limits=Limits(groups=max_groups))
    counts = {"orders": 2, "bills": 1}
    ends = {
        "topic": ["orders", "orders", "bills"],
        "partition": [0, 1, 0],
        "offset": [100, 100, 50],
    }
    windows.set_log_ends(pa.table(ends), counts)
    state = ClusterState(cluster, windows, clock=clock or Clock())
    state.topics, state.topics_s, state.ends_s = TopicListing(counts, {}, {}), NOW_S - 5.0, NOW_S
    settings = HttpConsumer(name=f"reports-{cluster}", class_name="http", cluster=cluster)
    made = ReportedConsumer(settings, state, accepts or Accepts())
    made.begin()
    return made


def report(
    *offsets: tuple[str, int, int],
    at_ms: int | None = NOW_MS,
    group: str = "job",
    cluster: str = "",
    is_complete: bool = False,
    query: QueryNews | None = None,
    item: int = 0,
) -> Report:
    return Report(item, cluster, group, at_ms, [*offsets], is_complete, query)


def news(run_id: str = "1", *, has_ended: bool = False, error: str = "") -> QueryNews:
    return QueryNews(
        origin="listener",
        place="app",
        name="q",
        id="i",
        run_id=run_id,
        batch=None if has_ended else 7,
        triggered_ms=None if has_ended else NOW_MS,
        batch_ms=None,
        input_rate=None,
        processed_rate=None,
        state_rows=None,
        every_s=None,
        has_ended=has_ended,
        error=error,
    )


def judged(of: ReportedConsumer, evaluator: JudgeSettings = DEFAULT) -> ClusterBoard:
    """Its cluster as it is now."""

    def store(_cluster: str, arrays: WindowArrays) -> StoredWindows:
        return CommitsFile().store(arrays)

    now_s = int(of.cluster.clock())
    return judge_cluster(of.cluster, Sources((), (of,)), evaluator, now_s, store)
