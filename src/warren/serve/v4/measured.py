"""The numbers beside a verdict, as answers have them: lag and age, and what will be.

JSON has no infinity. A number that is not known is null; seconds until something that will not
happen are the word `never`.
"""

from collections.abc import Callable, Iterator
from functools import cache
from math import ceil, floor, isfinite, isinf, isnan
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
import numpy as np
from msgspec import Meta

from warren.model import bounds
from warren.model.arrays import AnyArray, Bytes, Ints, Singles
from warren.model.numbers import UNKNOWN, Method, reasons
from warren.serve.board_file.board_view import ClusterView

PARTS = 1000  # of a second

AgeMethod = Literal["nothing_unread", "by_ends", "by_clock", "unknown"]
Until = float | Literal["never"] | None  # seconds; null: not known
UNTIL = "`never`: not at the present pace. Null: not known."


class Lag(msgspec.Struct):
    """Records the group could read now. The truth lies between the bounds; null: not known."""

    now: int | None = None
    low: int | None = None
    high: int | None = None


class Age(msgspec.Struct):
    """Seconds since the oldest unread record was written; 0 when nothing is unread.

    The truth lies between the bounds; null: not known.
    """

    seconds: float | None = None
    low: float | None = None
    high: float | None = None
    method: Annotated[
        AgeMethod,
        Meta(
            description="`by_ends`: from when the log ends were read, by Warren's own clock. "
            "`by_clock`: from timestamps of records, which trusts the clocks of their producers."
        ),
    ] = "unknown"


class Drain(msgspec.Struct):
    """Seconds until everything is read at the present pace of producers and group."""

    low: Annotated[Until, Meta(description=f"At the best. {UNTIL}")] = None
    high: Annotated[Until, Meta(description=f"At the worst. {UNTIL}")] = None


class Measured(msgspec.Struct, kw_only=True):
    """The numbers of a partition, or of a group: its sums, and the worst of its partitions.

    Burrow and earlier versions of Warren have none of them.
    """

    lag: Lag = msgspec.field(default_factory=Lag)
    age: Age = msgspec.field(default_factory=Age)
    produced: Annotated[
        float | None, Meta(description="Records a second by which the logs grow. Null: not known.")
    ] = None
    consumed: Annotated[
        float | None, Meta(description="Records a second that the group commits. Null: not known.")
    ] = None
    drain: Drain = msgspec.field(default_factory=Drain)
    margin_s: Annotated[
        Until,
        Meta(
            description="Seconds until retention reaches the commit, if both go on as they do. "
            f"{UNTIL}"
        ),
    ] = None
    lost: Annotated[
        int | None,
        Meta(
            description="Records that retention took before the group had read them. Null: not "
            "known."
        ),
    ] = None
    lacks: Annotated[
        list[str],
        Meta(description="Why numbers are missing, or are known in one direction only."),
    ] = []


class MeasuredTopic(msgspec.Struct, kw_only=True):
    """The numbers of a topic for one group: sums of its partitions, and the oldest of them."""

    lag: Lag
    age: Age
    lost: int | None
    ages: Annotated[
        list[float | None],
        Meta(description="By partition: seconds of its oldest unread record; null: not known."),
    ]


class Place(msgspec.Struct):
    topic: str
    partition: int


class MeasuredGroup(Measured, kw_only=True):
    oldest: Annotated[
        Place | None,
        Meta(description="The partition whose age is the group's; null: no age is known."),
    ] = None
    scalable_lag: Annotated[
        int | None,
        Meta(
            description="Lag that another member could help with: of partitions that move; see "
            "`/v4/scale`."
        ),
    ] = None
    offsets_expire_s: Annotated[
        Until,
        Meta(
            description="Seconds until the brokers forget the first of its offsets. `never`: they "
            "keep them, as it is. Null: not known."
        ),
    ] = None


class MeasuredColumns(msgspec.Struct, kw_only=True):
    """The numbers of all groups of a cluster: a list for each."""

    lag: list[int | None] = []
    lag_low: list[int | None] = []
    lag_high: list[int | None] = []
    age_s: Annotated[
        list[float | None], Meta(description="Of the oldest unread record. Null: not known.")
    ] = []
    age_low_s: list[float | None] = []
    age_high_s: list[float | None] = []
    age_method: list[AgeMethod] = []
    produced: Annotated[list[float | None], Meta(description="Records a second.")] = []
    consumed: Annotated[list[float | None], Meta(description="Records a second.")] = []
    drain_low_s: Annotated[list[Until], Meta(description=UNTIL)] = []
    drain_high_s: Annotated[list[Until], Meta(description=UNTIL)] = []
    margin_s: Annotated[list[Until], Meta(description=UNTIL)] = []
    lost: list[int | None] = []
    scalable_lag: list[int | None] = []
    offsets_expire_s: Annotated[list[Until], Meta(description=UNTIL)] = []


class Each(NamedTuple):
    """What partitions and groups have alike, named as in the board's file."""

    lag: int
    lag_low: int
    lag_high: int
    age_s: float
    age_low_s: float
    age_high_s: float
    age_method: int
    produced: float
    consumed: float
    drain_low_s: float
    drain_high_s: float
    margin_s: float
    lost: int


METHODS: dict[int, AgeMethod] = {
    Method.NOTHING_UNREAD: "nothing_unread",
    Method.BY_ENDS: "by_ends",
    Method.BY_CLOCK: "by_clock",
    Method.UNKNOWN: "unknown",
}
OF_GROUPS = ("scalable_lag", "expires_s")
COUNTS = ("lag", "lag_low", "lag_high", "lost", "scalable_lag")
KNOWN = ("age_s", "age_low_s", "age_high_s", "produced", "consumed")
ROUNDED = {"age_low_s": np.floor, "age_high_s": np.ceil}  # outwards
AGE = ("age_s", "age_low_s", "age_high_s", "age_method")
SUMMED = ("lag", "lag_low", "lag_high", "lost")
UNTILS = ("drain_low_s", "drain_high_s", "margin_s")


def of_partitions(cluster: ClusterView, lines: slice) -> Iterator[dict[str, Any]]:
    """The fields of `Measured` for each line."""
    columns = [cluster.arrays[name][lines].tolist() for name in (*Each._fields, "lack")]
    for *each, lack in zip(*columns, strict=True):
        yield _measured(Each(*each)) | {"lacks": _reasons(lack)}


def of_groups(cluster: ClusterView, numbers: Ints) -> Iterator[dict[str, Any]]:
    """The fields of `MeasuredGroup` for each of these groups."""
    own = [
        cluster.arrays[f"group_{name}"][numbers].tolist() for name in (*Each._fields, *OF_GROUPS)
    ]
    line = cluster.arrays["group_age_line"][numbers]
    topics = [cluster.topics.names[at] for at in cluster.arrays["topic"][line].tolist()]
    partitions = cluster.arrays["partition"][line].tolist()
    lacks = cluster.group_lacks[numbers].tolist()
    columns = zip(topics, partitions, lacks, *own, strict=True)
    for topic, partition, lack, *each, scalable_lag, expires_s in columns:
        values = Each(*each)
        is_known = values.age_method != Method.UNKNOWN
        yield _measured(values) | {
            "lacks": _reasons(lack),
            "oldest": Place(topic, partition) if is_known else None,
            "scalable_lag": count(scalable_lag),
            "offsets_expire_s": until(expires_s),
        }


@cache
def _reasons(lack: int) -> list[str]:
    """There are few different ones."""
    return reasons(lack)


def _measured(each: Each) -> dict[str, Any]:
    return {
        "lag": Lag(count(each.lag), count(each.lag_low), count(each.lag_high)),
        "age": age(each.age_s, each.age_low_s, each.age_high_s, each.age_method),
        "produced": known(each.produced),
        "consumed": known(each.consumed),
        "drain": Drain(until(each.drain_low_s), until(each.drain_high_s)),
        "margin_s": until(each.margin_s),
        "lost": count(each.lost),
    }


def age(seconds: float, low: float, high: float, method: int) -> Age:
    """The bounds are rounded outwards."""
    return Age(known(seconds), known(low, floor), known(high, ceil), METHODS[method])


def of_topics(cluster: ClusterView, lines: Ints, first: Ints) -> Iterator[dict[str, Any]]:
    """The fields of `MeasuredTopic`: part i of the lines begins at first[i]."""
    columns = {name: cluster.arrays[name][lines] for name in (*AGE, *SUMMED)}
    sums = [_sums(columns[name], first) for name in SUMMED]
    oldest = _oldest_lines(columns["age_s"], first)
    ages = [columns[name][oldest].tolist() for name in AGE]
    by_partition = np.split(columns["age_s"], first[1:])
    for lag, low, high, lost, *each, some in zip(*sums, *ages, by_partition, strict=True):
        yield {
            "lag": Lag(count(lag), count(low), count(high)),
            "age": age(*each),
            "lost": count(lost),
            "ages": _seconds(some, None),
        }


def _sums(values: Ints, first: Ints) -> list[int]:
    """What is not known counts as nothing, unless nothing is known."""
    total = bounds.sums(np.maximum(values, 0).astype(np.int64), first)
    is_known = np.maximum.reduceat(values, first) >= 0
    summed: list[int] = np.where(is_known, total, UNKNOWN).tolist()
    return summed


def _oldest_lines(age_s: Singles, first: Ints) -> Ints:
    """The line of each part that is oldest, the first of equals; what is not known is youngest."""
    ages: AnyArray = np.nan_to_num(age_s, nan=-1.0)
    greatest = np.repeat(np.maximum.reduceat(ages, first), np.diff(first, append=len(ages)))
    is_greatest = np.flatnonzero(ages == greatest)
    return is_greatest[np.searchsorted(is_greatest, first)]


def count(value: int) -> int | None:
    return None if value == UNKNOWN else value


def known(value: float, whole: Callable[[float], float] = round) -> float | None:
    """A number that is infinite has no bound, which is as good as not known."""
    return whole(value * PARTS) / PARTS if isfinite(value) else None


def until(value: float) -> Until:
    if isnan(value):
        return None
    return "never" if isinf(value) else round(value * PARTS) / PARTS


def in_columns(cluster: ClusterView) -> dict[str, list[Any]]:
    """The numbers of all groups: a list for each."""
    group = {name: cluster.arrays[f"group_{name}"] for name in (*Each._fields, *OF_GROUPS)}
    return {
        **{name: _counts(group[name]) for name in COUNTS},
        **{name: _seconds(group[name], None, ROUNDED.get(name, np.rint)) for name in KNOWN},
        **{name: _seconds(group[name], "never") for name in UNTILS},
        "age_method": _methods(group["age_method"]),
        "offsets_expire_s": _seconds(group["expires_s"], "never"),
    }


def _counts(values: Ints) -> list[int | None]:
    return [None if value == UNKNOWN else value for value in values.tolist()]


def _seconds(values: Singles, infinite: str | None, whole: np.ufunc = np.rint) -> list[Any]:
    found: AnyArray = whole(values.astype(np.float64) * PARTS) / PARTS
    if not np.isfinite(values).all():
        found = found.astype(object)
        found[np.isnan(values)] = None
        found[np.isinf(values)] = infinite
    listed: list[Any] = found.tolist()
    return listed


def _methods(values: Bytes) -> list[AgeMethod]:
    return [METHODS[value] for value in values.tolist()]
