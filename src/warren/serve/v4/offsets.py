"""Offsets that programs report: Spark jobs, Flink, connectors, anything that keeps its own.

A worker reads the request; the pipeline's process checks it against its clusters and keeps it. What
is wrong with one offset does not stop the others: the answer names each that was refused.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from warren.model.offset_reports import (
    GREATEST_OFFSET,
    GREATEST_PARTITION,
    LONGEST_NAME,
    MOST_OFFSETS,
    MOST_REFUSALS,
    QueryNews,
    Refusal,
    Report,
    Taken,
)
from warren.model.query_facts import first_line
from warren.serve.http.access import REPORTS
from warren.serve.http.answers import Answer, Request
from warren.serve.http.channel import ReportOffsets
from warren.serve.http.site import Site
from warren.serve.v4.lines import moment
from warren.serve.v4.parameters import problem
from warren.serve.v4.shapes import Moment

PATH = REPORTS
LAST_MS = 253_402_300_799_999

Text = Annotated[str, Meta(max_length=LONGEST_NAME)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Rate = Annotated[float, Meta(ge=0)]


class ReportedQuery(msgspec.Struct, forbid_unknown_fields=True):
    """What a report may say of the query, or of whatever program it is."""

    origin: Annotated[
        Literal["listener", "report"], Meta(description="listener: of `warren_listener`.")
    ] = "report"
    place: Annotated[Text, Meta(description="Such as the name of the application.")] = ""
    name: Text = ""
    id: Annotated[Text, Meta(description="The same for all its runs.")] = ""
    run_id: Annotated[Text, Meta(description="Another for each start: a new one is a restart.")] = (
        ""
    )
    batch: Annotated[Count | None, Meta(description="Number of its last batch.")] = None
    triggered_ms: Annotated[Count | None, Meta(description="When that batch began.")] = None
    batch_ms: Annotated[Count | None, Meta(description="How long it took.")] = None
    input_rate: Annotated[Rate | None, Meta(description="Records a second that arrived.")] = None
    processed_rate: Annotated[
        Rate | None, Meta(description="Records a second while it worked.")
    ] = None
    state_rows: Count | None = None
    every_s: Annotated[
        Annotated[float, Meta(gt=0, le=86_400)] | None,
        Meta(description="It will report at least so often: when it does not, it is gone."),
    ] = None
    ended: Annotated[bool, Meta(description="It has ended, at the time of the report.")] = False
    error: Annotated[
        str, Meta(description="The exception that ended it; its first line is kept.")
    ] = ""


class OffsetReport(msgspec.Struct, forbid_unknown_fields=True):
    """Where a group stands: one partition, or several in `offsets`."""

    group: Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
    cluster: Annotated[str, Meta(description="Needed only if several clusters take reports.")] = ""
    topic: Annotated[str | None, Meta(description="With partition and offset.")] = None
    partition: int | None = None
    offset: Annotated[int | None, Meta(description="The next record to read.")] = None
    offsets: Annotated[
        dict[str, dict[str, int]] | None,
        Meta(description="Instead of these three: offsets by topic and partition."),
    ] = None
    time: Annotated[
        int | str | None,
        Meta(
            description="When it stood there: milliseconds since 1970, or a text such as "
            "2026-03-01T12:00:00Z. Null: now."
        ),
    ] = None
    sent: Annotated[
        int | str | None,
        Meta(
            description="When this is sent, by the same clock as `time`: that clock may be wrong "
            "then."
        ),
    ] = None
    complete: Annotated[
        bool, Meta(description="It reads nothing else: its other partitions are forgotten.")
    ] = False
    query: ReportedQuery | None = None


class OffsetsKept(msgspec.Struct):
    board: Moment
    kept: Annotated[int, Meta(description="Offsets.")]


class OffsetsRefused(msgspec.Struct):
    """At least one offset was refused; `kept` others were not."""

    board: Moment
    error: bool
    message: str
    kept: int
    refused: Annotated[list[Refusal], Meta(description=f"The first {MOST_REFUSALS}.")]


Read = tuple[list[Report], list[Refusal]]


async def report(site: Site, request: Request) -> Answer:
    read = read_reports(request.body)
    if isinstance(read, str):
        return problem(site, 400, read)
    reports, refused = read
    taken = Taken(200)
    if reports:
        taken = msgspec.json.decode(await site.call(ReportOffsets(reports)) or "", type=Taken)
    if taken.problem:
        return problem(site, taken.code, taken.problem)
    count = len(refused) + taken.refused_count
    if not count:
        return site.raw(200, OffsetsKept(moment(site.view), taken.kept))
    listed = sorted([*refused, *taken.refused], key=lambda each: each.item)[:MOST_REFUSALS]
    message = f"{count} refused, {taken.kept} kept; item {listed[0].item}: {listed[0].why}"
    return site.raw(400, OffsetsRefused(moment(site.view), True, message, taken.kept, listed))  # noqa: FBT003  # a Struct's field


def read_reports(body: bytes) -> Read | str:
    """The reports in a request and what is wrong with the others; or why there are none."""
    try:
        is_list = body.lstrip()[:1] == b"["
        items = msgspec.json.decode(body, type=list[msgspec.Raw]) if is_list else [body]
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        return f"the body is no JSON: {error}"
    if not items or len(items) > MOST_OFFSETS:
        return f"the body has {len(items)} items; must be from 1 to {MOST_OFFSETS}"
    read = [_read_item(number, item) for number, item in enumerate(items)]
    reports = [each for each in read if isinstance(each, Report)]
    if (count := sum(len(each.offsets) for each in reports)) > MOST_OFFSETS:
        return f"the body has {count} offsets; must be at most {MOST_OFFSETS}"
    return reports, [each for each in read if isinstance(each, Refusal)]


def _read_item(number: int, item: bytes | msgspec.Raw) -> Report | Refusal:
    try:
        sent = msgspec.json.decode(item, type=OffsetReport)
        time_ms, sent_ms = _time_ms(sent.time), _time_ms(sent.sent)
        offsets = [*_offsets(sent)]
    except (msgspec.MsgspecError, UnicodeError, RecursionError, ValueError) as error:
        return Refusal(number, str(error))
    news = _news(sent.query) if sent.query else None
    return Report(number, sent.cluster, sent.group, time_ms, offsets, sent.complete, news, sent_ms)


def _offsets(sent: OffsetReport) -> Iterator[tuple[str, int, int]]:
    """Raises ValueError: what is wrong with one offset is wrong with its whole item."""
    single = (sent.topic, sent.partition, sent.offset)
    if sent.offsets is not None and single != (None, None, None):
        raise ValueError("it has offsets, and a topic, partition or offset too; use one form")
    if sent.offsets is None:
        if single == (None, None, None) and sent.query is not None:
            return
        topic, partition, offset = single
        if topic is None or partition is None or offset is None:
            raise ValueError("it needs topic, partition and offset, or offsets")
        yield _checked(topic, partition, offset)
    for topic, partitions in (sent.offsets or {}).items():
        for name, offset in partitions.items():
            if not (name.isascii() and name.isdecimal()):
                raise ValueError(f"{topic}: partition {name!r} is no number")
            yield _checked(topic, int(name), offset)


def _checked(topic: str, partition: int, offset: int) -> tuple[str, int, int]:
    if not 0 <= partition <= GREATEST_PARTITION:
        raise ValueError(f"{topic}: partition {partition} is not from 0 to {GREATEST_PARTITION}")
    if not 0 <= offset <= GREATEST_OFFSET:
        place = f"{topic}:{partition}"
        raise ValueError(f"{place}: offset {offset} is not from 0 to {GREATEST_OFFSET}")
    return topic, partition, offset


def _time_ms(time: int | str | None) -> int | None:
    if not isinstance(time, str):
        if time is not None and abs(time) > LAST_MS:
            raise ValueError(f"time {time} is beyond the year 9999")
        return time
    try:
        at = datetime.fromisoformat(time)
    except ValueError as error:
        raise ValueError(f"time {time[:50]!r} is not like 2026-03-01T12:00:00Z") from error
    if at.tzinfo is None:
        raise ValueError(f"time {time!r} names no time zone; append Z for UTC")
    return int(at.timestamp() * 1000)


def _news(sent: ReportedQuery) -> QueryNews:
    known = {name: getattr(sent, name) for name in sent.__struct_fields__ if name != "ended"}
    return QueryNews(**{**known, "error": first_line(sent.error)}, has_ended=sent.ended)
