"""One group, partition by partition."""

from collections.abc import Iterator

from grafana_foundation_sdk.models.dashboard import Dashboard

from generator.page import one, page, some
from generator.panels import FULL, RECENT, THIRD, AnyPanel, Drawing, Look
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
    status = Look("Status of partitions", "OK, WARN, STOP, STALL or REWIND.", FULL)
    yield draw.statuses("status of partitions", status, words)
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
