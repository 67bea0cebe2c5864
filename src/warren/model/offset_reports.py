"""Offsets that programs report over HTTP, on their way from a worker to the pipeline.

A worker has read the request and checked what needs no state; the pipeline knows the clusters and
their topics, and says what it has kept.
"""

import msgspec

from warren.model.query_facts import Origin

MOST_OFFSETS = 10_000  # of one request
GREATEST_OFFSET = 2**63 - 2  # the last number of all is no position: programs use it for "the end"
GREATEST_PARTITION = 2**31 - 1
LONGEST_NAME = 1_000
MOST_REFUSALS = 100  # that an answer lists


class QueryNews(msgspec.Struct, frozen=True):
    """What a report says of the query; the moment is the report's."""

    origin: Origin
    place: str
    name: str
    id: str
    run_id: str
    batch: int | None
    triggered_ms: int | None
    batch_ms: int | None
    input_rate: float | None
    processed_rate: float | None
    state_rows: int | None
    every_s: float | None
    has_ended: bool
    error: str


class Report(msgspec.Struct, frozen=True):
    """One item of a request."""

    item: int  # its place in the request
    cluster: str  # empty: the only one that takes reports
    group: str
    time_ms: int | None  # None: now
    offsets: list[tuple[str, int, int]]  # topic, partition, next record to read
    is_complete: bool  # the group reads nothing else
    query: QueryNews | None
    sent_ms: int | None = None  # by the sender's clock


class Refusal(msgspec.Struct, frozen=True):
    """Why an item, or one of its offsets, was not kept."""

    item: int
    why: str


class Taken(msgspec.Struct, frozen=True):
    """What the pipeline did with some reports."""

    code: int  # 200, or why none were kept
    problem: str = ""
    kept: int = 0  # offsets
    refused: list[Refusal] = []  # as many as an answer lists
    refused_count: int = 0
