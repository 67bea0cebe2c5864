"""The functions Burrow adds to Go's templates, and one of our own."""

from collections.abc import Callable, Sequence

from gotpl import GoPointer

from warren.model.go_json import encode
from warren.model.status import Status
from warren.notify import plain_numbers
from warren.notify.templates.go_values import GoTime, StatusValue, Struct, Table

_COUNTED = {
    Status.WARN: "warn",
    Status.STOP: "stop",
    Status.STALL: "stall",
    Status.REWIND: "rewind",
}


def json_encoder(value: object) -> str:
    return encode(_plain(value)).decode()


def _plain(value: object) -> object:
    """Turn a template's value into plain JSON values."""
    match value:
        case GoPointer():
            return None
        case Struct() | StatusValue() | GoTime() | Table():
            return _plain(value.json)
        case dict():
            return {key: _plain(each) for key, each in value.items()}
        case list():
            return [_plain(each) for each in value]
        case float() if value.is_integer():
            return int(value)
    return value


def topics_by_status(partitions: Sequence[Struct]) -> Table:
    """The topics that have partitions in each status; Burrow's order is random."""
    found: dict[str, list[object]] = {}
    for partition in partitions:
        status, topic = str(partition.field("Status")), partition.field("Topic")
        topics = found.setdefault(status, [])
        if topic not in topics:
            topics.append(topic)
    return Table(found, [])


def partition_counts(partitions: Sequence[Struct]) -> Table:
    counts = dict.fromkeys([*_COUNTED.values(), "unknown"], 0)
    for partition in partitions:
        status = partition.field("Status")
        if status != Status.OK:
            counts[_COUNTED.get(status, "unknown")] += 1
    return Table(counts, 0)


def divide(a: int, b: int) -> int:
    """Round towards zero, as Go does."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def max_lag(partition: Struct | GoPointer[object]) -> object:
    return partition.field("CurrentLag") if isinstance(partition, Struct) else 0


def format_timestamp(ms: int, layout: str) -> str:
    return GoTime.at(ms).format(layout)


def in_words(seconds: object) -> str:
    """Warren's own: `12 min`, `never`; empty for nil."""
    return plain_numbers.duration(float(seconds)) if isinstance(seconds, int | float) else ""


FUNCTIONS: dict[str, Callable[..., object]] = {
    "jsonencoder": json_encoder,
    "topicsbystatus": topics_by_status,
    "partitioncounts": partition_counts,
    "add": lambda a, b: a + b,
    "minus": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": divide,
    "maxlag": max_lag,
    "formattimestamp": format_timestamp,
    "duration": in_words,
}
