"""The files in the checkpoint of a Spark streaming query, as Spark 2.1 to 4 write them.

`offsets/N` says how far batch N reads, before it is worked on; `commits/N` comes when it is done.
A file of offsets has a line with the version, one with Spark's own facts about the batch, then the
sources: in version 1 a line for each, `-` for one without an offset; in version 2 each has a name
before its offset, in lines of their own or in one JSON object. How many there are it does not say.
"""

from collections.abc import Iterator
from typing import Annotated, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

from warren.errors import Unreadable
from warren.sources.outside_changes import GREATEST_OFFSET, GREATEST_PARTITION

OFFSETS, COMMITS, METADATA = "offsets", "commits", "metadata"  # in the checkpoint's directory
NOTHING = "-"  # instead of a source's offset

Place = tuple[str, int]  # topic and partition
T = TypeVar("T")


class Batch(NamedTuple):
    triggered_ms: int | None  # when it began, by the job's clock
    offsets: dict[Place, int]  # of all sources that are Kafka: the next record to read
    kafka_sources: int  # that have an offset

    @property
    def reads_kafka(self) -> bool:
        return self.kafka_sources > 0


class _Facts(msgspec.Struct, rename="camel"):
    batch_timestamp_ms: int = 0


class _Query(msgspec.Struct):
    id: str


Offset = Annotated[int, Meta(ge=0, le=GREATEST_OFFSET)]
_facts = msgspec.json.Decoder(_Facts)
_query = msgspec.json.Decoder(_Query)
_named = msgspec.json.Decoder(dict[str, str])
_kafka = msgspec.json.Decoder(dict[str, dict[str, Offset]])


def read_batch(data: bytes) -> Batch:
    """Parse a file of offsets; raises `Unreadable` if it is cut short or damaged."""
    lines = _text(data).split("\n")
    version = lines[0].strip()
    if version not in {"v1", "v2"}:
        raise Unreadable(f"log version {version[:20]!r}" if version else "an empty log")
    if not any(line.strip() for line in lines[2:]):
        raise Unreadable("the sources: the log is cut short")
    facts = _decoded(_facts, lines[1], "the batch's facts") if lines[1].strip() else _Facts()
    sources = lines[2:] if version == "v1" else [*_values(lines[2:])]
    read = [_offsets(each) for each in sources if each.strip() not in {"", NOTHING}]
    of_kafka = [each for each in read if each is not None]
    return Batch(facts.batch_timestamp_ms or None, _lowest(of_kafka), len(of_kafka))


def read_query_id(data: bytes) -> str:
    """The id in a checkpoint's metadata, which is the same for all runs of the query."""
    return _decoded(_query, _text(data), "the query's id").id


def _values(lines: list[str]) -> Iterator[str]:
    """The offsets of version 2, without the names of their sources."""
    for line in lines:
        if line.lstrip().startswith("{"):
            yield from _decoded(_named, line, "the sources").values()
        elif line.strip():
            name, colon, offset = line.partition(":")
            if not colon:
                raise Unreadable(f"source {name[:20]!r}: the log is cut short")
            yield offset


def _offsets(source: str) -> dict[Place, int] | None:
    """The offsets of one source; None if it is not Kafka."""
    try:
        topics = _kafka.decode(source)
    except msgspec.ValidationError:
        return None  # JSON of another form
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unreadable("a source's offset: the log is cut short or damaged") from error
    numbers = {number for partitions in topics.values() for number in partitions}
    if not all(map(_is_partition, numbers)):
        return None
    return {
        (topic, int(number)): offset
        for topic, partitions in topics.items()
        for number, offset in partitions.items()
    }


def _is_partition(text: str) -> bool:
    is_plain = text.isascii() and text.isdecimal() and len(text) <= len(str(GREATEST_PARTITION))
    return is_plain and int(text) <= GREATEST_PARTITION


def _lowest(sources: list[dict[Place, int]]) -> dict[Place, int]:
    """A query that reads a partition twice, as in a join with itself, has read it up to there."""
    found: dict[Place, int] = {}
    for source in sources:
        for place, offset in source.items():
            found[place] = min(offset, found.get(place, offset))
    return found


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Unreadable("a log that is not text") from error


def _decoded(decoder: "msgspec.json.Decoder[T]", text: str, what: str) -> T:
    try:
        return decoder.decode(text)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Unreadable(f"{what}: the log is cut short or damaged") from error
