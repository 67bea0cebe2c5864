"""Each consumer group over time: status, lag, how fast it reads and how fast is written."""

from collections.abc import Iterator

from grafana_foundation_sdk.models.dashboard import Dashboard

from generator.page import many, page
from generator.panels import FULL, THIRD, AnyPanel, Drawing, Look
from generator.questions import Source

ABOUT = "Lag of consumer groups by group and topic, and how fast they read what is written."


def consumers(source: Source) -> Dashboard:
    variables = [*many(source, "cluster", "group", "topic")]
    return page(source, "consumers", ABOUT, variables, [*_panels(Drawing(source))])


def _panels(draw: Drawing) -> Iterator[AnyPanel]:
    status = Look("Status of groups", "OK, WARN or ERR, by Burrow's rules.", FULL)
    yield draw.statuses("status of groups", status, draw.source.group_words)
    age = Look(
        "Age of the oldest unread message",
        "How late a group reads; 0 when nothing is unread. By Warren's clock, not by the "
        "producers'.",
        unit="s",
    )
    yield draw.lines("age by group", age)
    yield draw.lines("lag by group", Look("Lag by group", "Messages that wait for a group."))
    by_topic = Look(
        "Lag by group and topic",
        "The sum of the lags of the partitions of a topic, for each group.",
    )
    yield draw.lines("lag by topic", by_topic)
    consumed = Look(
        "Messages consumed a minute",
        "How far committed offsets move in a minute; negative when a group goes back. "
        "From Elasticsearch: the mean of a topic's partitions.",
    )
    yield draw.lines("consumed by topic", consumed)
    produced = Look(
        "Messages produced a minute",
        "How far the ends of topics move in a minute. "
        "From Elasticsearch: the mean of a topic's partitions.",
    )
    yield draw.lines("produced by topic", produced)
    growth = Look(
        "Lag growth a minute", "Above zero a group falls behind, below zero it catches up."
    )
    yield draw.lines("lag growth", growth)
    yield from _what_will_be(draw)


def _what_will_be(draw: Drawing) -> Iterator[AnyPanel]:
    drain = Look(
        "Time until all is read",
        "At the present pace of producers and group, at most. Without a line: never, or not known.",
        THIRD,
        unit="s",
    )
    yield draw.lines("drain by group", drain)
    margin = Look(
        "Time until retention reaches a group",
        "What a group has not read by then is lost. Of its partitions the nearest.",
        THIRD,
        unit="s",
    )
    yield draw.lines("margin by group", margin)
    lost = Look("Messages lost", "What retention took before a group had read it.", THIRD)
    yield draw.lines("lost by group", lost)
    expiry = Look(
        "Time until offsets expire",
        "Then the brokers forget where a group stands. Without a line: never, or not known.",
        unit="s",
    )
    yield draw.lines("expiry by group", expiry)
    scalable = Look("Lag for more members", "Lag that another member of a group could help with.")
    yield draw.lines("scalable by group", scalable)
