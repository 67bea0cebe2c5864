"""One group, partition by partition."""

from collections.abc import Iterator

from grafana_foundation_sdk.models.dashboard import Dashboard

from generator.page import one, page, some
from generator.panels import FULL, HALF, QUARTER, RECENT, THIRD, AnyPanel, Drawing, Look
from generator.questions import Source

ABOUT = "One consumer group: status, lag, offsets and speed of each of its partitions."


def group(source: Source) -> Dashboard:
    variables = [*one(source, "cluster", "group"), some(source, "topic")]
    return page(source, "group", ABOUT, variables, [*_panels(Drawing(source))])


def _panels(draw: Drawing) -> Iterator[AnyPanel]:
    words = draw.source.partition_words
    yield draw.numbers(
        "status of the group",
        Look("Status", "OK, WARN or ERR: the worst of its partitions decides.", THIRD, 4),
        draw.source.group_words,
    )
    yield draw.numbers("lag of the group", Look("Lag", "Messages that wait for it.", THIRD, 4))
    yield draw.numbers(
        "partitions of the group", Look("Partitions", "Partitions that it reads.", THIRD, 4)
    )
    yield from _numbers(draw)
    status = Look("Status of partitions", "OK, WARN, STOP, STALL or REWIND.", FULL)
    yield draw.statuses("status of partitions", status, words)
    about = "How old the oldest unread message is; the truth lies between the bounds."
    yield draw.lines("age of the group", Look("Age, and its bounds", about, unit="s"))
    by_partition = Look("Age by partition", "How old its oldest unread message is.", unit="s")
    yield draw.lines("age by partition", by_partition)
    yield draw.lines("lag by partition", Look("Lag by partition", "Messages that wait for it."))
    yield draw.lines(
        "consumed by partition",
        Look("Messages consumed a minute", "How far committed offsets move in a minute."),
    )
    offsets = Look(
        "Committed offsets and log ends", "The distance between the two is the lag.", FULL
    )
    yield draw.lines("offsets by partition", offsets)
    about = (
        "Every partition as it is now. From Prometheus without status and offset while its window "
        "is not full; from Elasticsearch the largest values of the last five minutes."
    )
    table = draw.rows("partitions", Look("Partitions", about, FULL, 12), words, "lag")
    yield table.time_from(RECENT)


def _numbers(draw: Drawing) -> Iterator[AnyPanel]:
    age = Look("Age", "How old its oldest unread message is.", QUARTER, 4, "s")
    yield draw.numbers("age now", age).no_value("-")
    about = "Until all is read at the present pace. Without a number: never, or not known."
    drain = draw.numbers("drain of the group", Look("All read in", about, QUARTER, 4, "s"))
    yield drain.no_value("-")
    about = "Until retention reaches what it has not read. Without a number: not known, or never."
    margin = draw.numbers("margin of the group", Look("Retention in", about, QUARTER, 4, "s"))
    yield margin.no_value("-")
    lost = Look("Lost", "Messages that retention took before it had read them.", QUARTER, 4)
    yield draw.numbers("lost by the group", lost).no_value("-")
    about = "Until the brokers forget where it stands. Without a number: never, or not known."
    expiry = Look("Offsets expire in", about, HALF, 4, "s")
    yield draw.numbers("expiry of the group", expiry).no_value("-")
    about = "Lag that another member of it could help with."
    scalable = Look("Lag for more members", about, HALF, 4)
    yield draw.numbers("scalable of the group", scalable).no_value("-")
