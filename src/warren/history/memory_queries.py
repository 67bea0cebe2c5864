"""The queries of `spark_queries` on rows in memory: without Spark, for small periods.

Both return the same tables; `tests/history/test_queries.py` checks that.
"""

from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import cached_property
from math import ceil
from typing import Any, Protocol, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warren.model import bounds
from warren.model.tables import GROUP, LOG_END, PARTITION

# A moment lasts until the next one, unless that is later than so many usual intervals: then Warren
# was down in between.
GAP = 3
LINE = ("topic", "partition")  # the key of a heat map's line
SHARES = (0.5, 0.95, 0.99)  # the percentiles; as GROUPS in `spark_queries`
SAMPLES = 8  # moments whose log ends are read: enough to see growth

MOMENTS = pa.schema(
    [
        ("cluster", pa.string()),
        ("moment_ms", pa.int64()),
        ("is_last", pa.bool_()),
        ("lasted_ms", pa.int64()),
        ("number", pa.int64()),
    ]
)
NAME = ["cluster", "group"]
MOST = ("lag", "max_lag", "status", "age_s")  # the worst of a step counts
Name = tuple[str, str]


def sample_moments(moments: Iterable[tuple[str, int]]) -> list[int]:
    """The first, the last, and some moments in between, of every cluster."""
    at: dict[str, list[int]] = {}
    for cluster, moment_ms in sorted(moments):
        at.setdefault(cluster, []).append(moment_ms)
    strides = ((times, len(times) // SAMPLES + 1) for times in at.values())
    return sorted({each for times, stride in strides for each in (*times[::stride], times[-1])})


class KeptOfGroup(Protocol):
    """The rows of a group in a period, and the queries on them."""

    def together(self, topic: str, partition: int | None) -> "KeptOfGroup":
        """Only one topic or partition, summed up as if the groups read nothing else."""
        ...

    def steps(self, since_ms: int, step_ms: int) -> pa.Table:
        """Groups by step of time: the worst status, lag and age of each, and its last offset."""
        ...

    def heat(self, lines: int, since_ms: int, step_ms: int) -> tuple[int, pa.Table]:
        """The number of partitions, and those with the most lag by step of time."""
        ...

    def incidents(self) -> pa.Table:
        """Unbroken times in which a group was not OK; `ended_ms` is null if it still is not."""
        ...


class Kept(KeptOfGroup, Protocol):
    """The rows of all groups of a period, and the queries on them."""

    def clusters(self) -> list[str]:
        """The clusters that have rows of groups."""
        ...

    def together(self, topic: str, partition: int | None) -> "Kept": ...

    def steps(self, since_ms: int, step_ms: int, names: Sequence[Name] | None = None) -> pa.Table:
        """Likewise, only of some groups if named."""
        ...

    def spread(self) -> pa.Table:
        """Time in each status and percentiles of lag, by group; null: all groups of a cluster."""
        ...

    def topics(self) -> pa.Table:
        """The messages written to each topic: how far its log ends moved."""
        ...

    def statuses(self, since_ms: int, step_ms: int) -> pa.Table:
        """How many groups of each cluster were in each status, by step of time."""
        ...


class InMemory:
    def __init__(self, rows: pa.Table) -> None:
        self.rows = rows

    @cached_property
    def _groups(self) -> pa.Table:
        """Rows of groups in time order: the last is the newest."""
        return _only(self.rows, "kind", GROUP).sort_by("moment_ms")

    def clusters(self) -> list[str]:
        found: list[str] = sorted(self._groups["cluster"].unique().to_pylist())
        return found

    def together(self, topic: str, partition: int | None) -> Self:
        some = _only(_only(self.rows, "kind", PARTITION), "topic", topic)
        if partition is not None:
            some = _only(some, "partition", partition)
        some = some.set_column(
            some.column_names.index("max_lag"),
            "max_lag",
            pc.coalesce(some["max_lag"], some["lag"]),
        )
        wide = {name: some[name].cast(pa.float64(), safe=False) for name in ("lag", "offset")}
        for name, column in wide.items():
            some = some.append_column(f"{name}_wide", column)
        added = some.group_by(["cluster", "group", "moment_ms"]).aggregate(
            [
                *((name, "sum") for name in ("lag", "offset", "lag_wide", "offset_wide")),
                ("max_lag", "max"),
                ("status", "max"),
                ("age_s", "max"),
            ]
        )
        columns = {name: added[name] for name in ("cluster", "group", "moment_ms")}
        columns |= {name: _bounded(added, name) for name in wide}
        columns |= {name: added[f"{name}_max"] for name in ("max_lag", "status", "age_s")}
        return type(self)(pa.table({**columns, "kind": pa.repeat(GROUP, len(added))}))

    def steps(self, since_ms: int, step_ms: int, names: Sequence[Name] | None = None) -> pa.Table:
        groups = self._groups
        if names is not None:
            columns = ([name[at] for name in names] for at in range(2))
            chosen = pa.table([pa.array(each, pa.string()) for each in columns], NAME)
            groups = groups.join(chosen, NAME, join_type="left semi")
        return _steps(groups, ["cluster", "group"], since_ms, step_ms)

    def heat(self, lines: int, since_ms: int, step_ms: int) -> tuple[int, pa.Table]:
        rows = _only(self.rows, "kind", PARTITION)
        total, worst = worst_lines(rows, lines)
        is_chosen = np.isin(_line_numbers(rows, worst), _line_numbers(worst, worst))
        some = rows.filter(pa.array(is_chosen))
        return total, _steps(some, [*LINE], since_ms, step_ms)

    def incidents(self) -> pa.Table:
        bad = self._lasting.filter(pc.greater(self._lasting["status"], 1))
        bad = bad.sort_by([(name, "ascending") for name in ("cluster", "group", "moment_ms")])
        number = bad["number"].to_numpy()
        goes_on = np.zeros(len(bad), np.bool_)
        if len(bad):
            goes_on[1:] = number[1:] == number[:-1] + 1
            for name in ("cluster", "group"):
                goes_on[1:] &= pc.equal(bad[name][1:], bad[name][:-1]).to_numpy()
        bad = bad.append_column("run", pa.array(np.cumsum(~goes_on)))
        bad = bad.append_column("ended_ms", pc.add(bad["moment_ms"], bad["lasted_ms"]))
        found = bad.group_by(["cluster", "group", "run"]).aggregate(
            [
                ("moment_ms", "min"),
                ("ended_ms", "max"),
                ("is_last", "max"),
                ("lasted_ms", "sum"),
                ("status", "max"),
                ("lag", "max"),
            ]
        )
        ended = pc.if_else(found["is_last_max"], pa.scalar(None, pa.int64()), found["ended_ms_max"])
        return pa.table(
            {
                "cluster": found["cluster"],
                "group": found["group"],
                "began_ms": found["moment_ms_min"],
                "ended_ms": ended,
                "lasted_ms": found["lasted_ms_sum"],
                "status": found["status_max"],
                "max_lag": found["lag_max"],
            }
        )

    def spread(self) -> pa.Table:
        rows = self._lasting.sort_by("moment_ms")
        for number, name in enumerate(("ok_ms", "warn_ms", "err_ms"), start=1):
            is_so = pc.equal(rows["status"], number)
            rows = rows.append_column(name, pc.if_else(is_so, rows["lasted_ms"], 0))
        by_group = _spread(rows, ["cluster", "group"])
        all_groups = _spread(rows, ["cluster"])
        nobody = pa.nulls(len(all_groups), pa.string())
        all_groups = all_groups.append_column("group", nobody).select(by_group.column_names)
        return pa.concat_tables([all_groups, by_group])

    def topics(self) -> pa.Table:
        times = self._moments.select(["cluster", "moment_ms"]).to_pylist()
        chosen = sample_moments((row["cluster"], row["moment_ms"]) for row in times)
        ends = _only(self.rows, "kind", LOG_END)
        ends = ends.filter(pc.is_in(ends["moment_ms"], pa.array(chosen, pa.int64())))
        ends = ends.set_column(
            ends.column_names.index("partitions"), "partitions", pc.coalesce(ends["partitions"], 1)
        )
        grown = ends.group_by(["cluster", "topic", "partition"]).aggregate(
            [
                *((name, side) for name in ("offset", "moment_ms") for side in ("min", "max")),
                ("partitions", "max"),
            ]
        )
        moved = pc.subtract(grown["offset_max"], grown["offset_min"])
        took = pc.subtract(grown["moment_ms_max"], grown["moment_ms_min"])
        grown = grown.append_column("messages", moved).append_column("took_ms", took)
        found = grown.group_by(["cluster", "topic"]).aggregate(
            [("partitions_max", "sum"), ("messages", "sum"), ("took_ms", "max")]
        )
        rates = map(_rate, found["messages_sum"].to_pylist(), found["took_ms_max"].to_pylist())
        return pa.table(
            {
                "cluster": found["cluster"],
                "topic": found["topic"],
                "partitions": found["partitions_max_sum"],
                "messages": found["messages_sum"],
                "per_second": pa.array(rates, pa.float64()),
            }
        )

    def statuses(self, since_ms: int, step_ms: int) -> pa.Table:
        rows = _with_step(self._groups, since_ms, step_ms)
        names = ("ok", "warn", "err")
        for number, name in enumerate(names, start=1):
            rows = rows.append_column(name, pc.equal(rows["status"], number).cast(pa.int64()))
        counted = rows.group_by(["cluster", "moment_ms", "step"]).aggregate(
            [(name, "sum") for name in names]
        )
        most = counted.group_by(["cluster", "step"]).aggregate(
            [(f"{name}_sum", "max") for name in names]
        )
        columns = {"cluster": most["cluster"], "step": most["step"]}
        columns |= {name: most[f"{name}_sum_max"] for name in names}
        return pa.table(columns).sort_by([("cluster", "ascending"), ("step", "ascending")])

    @cached_property
    def _moments(self) -> pa.Table:
        """Each moment with how long it lasted, and a number that skips one at each gap."""
        pairs = self._groups.group_by(["cluster", "moment_ms"]).aggregate([])
        parts = [MOMENTS.empty_table()]
        for cluster in self.clusters():
            times = np.sort(_only(pairs, "cluster", cluster)["moment_ms"].to_numpy())
            parts.append(_timed(cluster, times))
        return pa.concat_tables(parts)

    @cached_property
    def _lasting(self) -> pa.Table:
        names = ["cluster", "group", "moment_ms", "status", "lag"]
        return self._groups.select(names).join(
            self._moments, ["cluster", "moment_ms"], join_type="inner"
        )


def worst_lines(rows: pa.Table, most: int) -> tuple[int, pa.Table]:
    """How many different lines there are, and those with the greatest lag."""
    lagging = rows.group_by([*LINE]).aggregate([("lag", "max")])
    return len(lagging), _sorted(lagging, [("lag_max", "descending")])[:most].select([*LINE])


def _only(rows: pa.Table, name: str, value: str | int) -> pa.Table:
    return rows.filter(pc.equal(rows[name], value))


def _line_numbers(rows: pa.Table, of: pa.Table) -> Any:
    """A number for each line: by the topic's place in `of`, and the partition, which may be null.

    A join would not match null with null.
    """
    topic = pc.index_in(rows["topic"], of["topic"].unique()).fill_null(-1)
    partition = rows["partition"].fill_null(-1)
    return topic.to_numpy().astype(np.int64) * 2**32 + partition.to_numpy()


def _timed(cluster: str, times: Any) -> pa.Table:
    gaps = np.diff(times)
    usual = int(np.median(gaps)) if len(gaps) else 0
    is_gap = gaps > GAP * usual
    return pa.Table.from_arrays(
        [
            pa.repeat(cluster, len(times)),
            pa.array(times),
            pa.array(np.arange(len(times)) == len(times) - 1),
            pa.array(np.append(np.where(is_gap, usual, gaps), usual)),
            pa.array(np.cumsum(np.insert(np.where(is_gap, 2, 1), 0, 1))),
        ],
        schema=MOMENTS,
    )


def _bounded(added: pa.Table, name: str) -> pa.ChunkedArray:
    """A sum that stops at the limits of a 64-bit number instead of overflowing."""
    wide, total = added[f"{name}_wide_sum"], added[f"{name}_sum"]
    total = pc.if_else(pc.greater_equal(wide, float(bounds.MOST)), bounds.MOST, total)
    return pc.if_else(pc.less_equal(wide, float(bounds.LEAST)), bounds.LEAST, total)


def _with_step(rows: pa.Table, since_ms: int, step_ms: int) -> pa.Table:
    step = (rows["moment_ms"].to_numpy() - since_ms) // step_ms
    return rows.append_column("step", pa.array(step, pa.int64()))


def _sorted(rows: pa.Table, first: list[tuple[str, str]]) -> pa.Table:
    """Sort by `first`, then by name and step; a null partition comes first, as in Spark."""
    keys = {name: rows[name] for name, _ in first}
    keys |= {
        name: rows[name] for name in ("cluster", "group", "topic") if name in rows.schema.names
    }
    if "partition" in rows.schema.names:
        keys["partition"] = rows["partition"].fill_null(-1)
    keys |= {"step": rows["step"]} if "step" in rows.schema.names else {}
    rest = [(name, "ascending") for name in keys if name not in dict(first)]
    return rows.take(pc.sort_indices(pa.table(keys), [*first, *rest]))


def _steps(rows: pa.Table, by: list[str], since_ms: int, step_ms: int) -> pa.Table:
    stepped = _with_step(rows, since_ms, step_ms).sort_by("moment_ms")
    found = stepped.group_by([*by, "step"], use_threads=False).aggregate(
        [
            *((name, "max") for name in MOST),
            ("offset", "last", pc.ScalarAggregateOptions(skip_nulls=False)),
            ("moment_ms", "count"),
        ]
    )
    columns = {name: found[name] for name in (*by, "step")}
    columns |= {name: found[f"{name}_max"] for name in MOST}
    columns |= {"offset": found["offset_last"], "moments": found["moment_ms_count"]}
    return _sorted(pa.table(columns), [])


def _spread(rows: pa.Table, by: list[str]) -> pa.Table:
    found = rows.group_by(by, use_threads=False).aggregate(
        [
            *((f"{name}_ms", "sum") for name in ("lasted", "ok", "warn", "err")),
            ("lag", "list"),
            ("lag", "max"),
            ("lag", "last"),
            ("status", "last"),
        ]
    )
    columns = {name: found[name] for name in by}
    columns |= {"watched_ms": found["lasted_ms_sum"]}
    columns |= {name: found[f"{name}_sum"] for name in ("ok_ms", "warn_ms", "err_ms")}
    lags = pa.array(map(_percentiles, found["lag_list"]), pa.list_(pa.int64()))
    columns |= {"lags": lags, "max_lag": found["lag_max"]}
    return pa.table(columns | {"last_lag": found["lag_last"], "last_status": found["status_last"]})


def _percentiles(lags: pa.ListScalar) -> list[int]:
    inside: Any = lags.values
    ordered = np.sort(inside.to_numpy())
    return [int(ordered[ceil(share * len(ordered)) - 1]) for share in SHARES]


def _rate(messages: int, took_ms: int) -> float | None:
    """Messages a second, rounded half up as in Spark."""
    if not took_ms:
        return None
    exact = Decimal(repr(messages / (took_ms / 1000)))
    return float(exact.quantize(Decimal("0.001"), ROUND_HALF_UP))
