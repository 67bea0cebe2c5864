"""What is kept of the past."""

from typing import Annotated, Literal

from warren.config.keys import Count, Period, Regexp, key
from warren.config.sections import Section

Granularity = Literal["partition", "topic", "group"]


class History(Section, frozen=True, kw_only=True):
    """Warren's own: verdicts and log ends in a Delta table; kept if the section exists."""

    directory: Annotated[
        str,
        key(
            "Where the table is: a directory, or a URL that Spark can read and write.",
            default="`history` in `general.state-dir`, or `warren-history` here",
            example="/var/lib/warren/history",
        ),
    ] = ""
    history_interval: Annotated[Period, key("Seconds between two moments that are kept.")] = 60
    history_days: Annotated[Count, key("Days that a moment is kept.")] = 30
    history_granularity: Annotated[
        Granularity,
        key(
            "How fine the rows of a group are: one for each partition, each topic, or the group's "
            "alone. Log ends are as fine as the groups that read the topic."
        ),
    ] = "partition"
    by_partition: Annotated[
        Regexp,
        key("Groups in whose name this is found have rows of partitions.", example="^important-"),
    ] = ""
    by_topic: Annotated[
        Regexp,
        key(
            "Groups in whose name this is found have rows of topics instead; beats by-partition.",
            example="^bulk-",
        ),
    ] = ""
    by_group: Annotated[
        Regexp,
        key(
            "Groups in whose name this is found have their own row only; beats both.",
            example="^dev-",
        ),
    ] = ""
