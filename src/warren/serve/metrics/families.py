"""Families of series that come from the board's arrays: declared as data, counted, written out."""

from collections.abc import Callable, Iterator
from enum import Enum
from typing import NamedTuple

import numpy as np

from warren.model.arrays import AnyArray, Bytes, Ints, Mask
from warren.model.granularity import Level
from warren.serve.board_file.board_view import ClusterView
from warren.serve.metrics.exposition import label

AT_ONCE = 1000  # samples written between two other requests
DIGITS = 3  # of seconds


class Of(Enum):
    """What a family has a series for."""

    GROUP = 1
    TOPIC_OF_GROUP = 2
    PARTITION_OF_GROUP = 3
    TOPIC = 4
    PARTITION = 5


class Found(NamedTuple):
    """A value for each group, topic or partition, in the order of the board."""

    values: AnyArray
    is_there: Mask  # those without a series have no meaningful value


class Style(NamedTuple):
    """What the labels are called."""

    cluster: str
    group: str
    with_member: bool = False


class Family(NamedTuple):
    name: str
    about: str
    of: Of
    style: Style
    find: Callable[[ClusterView], Found]
    levels: tuple[Level, ...] = ()  # below a group: which groups have it


class Scraped(NamedTuple):
    """A cluster, and which of its groups have series of their own and below them."""

    name: str  # escaped for labels
    cluster: ClusterView
    whole: Mask
    below: Mask
    levels: Bytes
    with_logs: bool


def parts(cluster: ClusterView) -> Ints:
    """The first line of each topic of each group."""
    topic = cluster.arrays["topic"]
    begins = np.ones(len(topic), np.bool_)
    begins[1:] = topic[1:] != topic[:-1]
    begins[cluster.arrays["group_first"][:-1]] = True
    return np.flatnonzero(begins)


def group_of(cluster: ClusterView, lines: Ints) -> Ints:
    return np.searchsorted(cluster.arrays["group_first"], lines, side="right") - 1


def chosen(family: Family, scraped: Scraped) -> Mask:
    """The groups that have series of a family."""
    if family.of is Of.GROUP:
        return scraped.whole
    return scraped.below & np.isin(scraped.levels, family.levels)


def samples(family: Family, scraped: Scraped) -> Iterator[str]:
    """Texts of many samples each."""
    found = family.find(scraped.cluster)
    match family.of:
        case Of.GROUP:
            yield from _of_groups(family, scraped, found)
        case Of.TOPIC_OF_GROUP | Of.PARTITION_OF_GROUP:
            yield from _below_groups(family, scraped, found)
        case Of.TOPIC | Of.PARTITION if scraped.with_logs:
            yield from _of_logs(family, scraped, found)


def _of_groups(family: Family, scraped: Scraped, found: Found) -> Iterator[str]:
    names, style = scraped.cluster.groups.names, family.style
    start = f'{family.name}{{{style.cluster}="{scraped.name}",{style.group}="'
    numbers = np.flatnonzero(scraped.whole & found.is_there)
    for some in _in_slices(numbers):
        pairs = zip(some.tolist(), texts(found.values[some]), strict=True)
        yield "".join([f'{start}{label(names[number])}"}} {text}\n' for number, text in pairs])


def _below_groups(family: Family, scraped: Scraped, found: Found) -> Iterator[str]:
    cluster, style = scraped.cluster, family.style
    is_part = family.of is Of.TOPIC_OF_GROUP
    lines = parts(cluster) if is_part else np.arange(len(cluster.arrays["topic"]))
    groups = group_of(cluster, lines)
    wanted = np.flatnonzero(found.is_there & chosen(family, scraped)[groups])
    escaped = [label(topic) for topic in cluster.topics.names]
    start = f'{family.name}{{{style.cluster}="{scraped.name}",{style.group}="'
    for some in _in_slices(wanted):
        names = _group_labels(cluster, groups[some])
        topics = [escaped[topic] for topic in cluster.arrays["topic"][lines[some]].tolist()]
        ends = [f'",topic="{topic}"' for topic in topics]
        if not is_part:
            numbers = cluster.arrays["partition"][lines[some]].tolist()
            each = zip(numbers, ends, strict=True)
            ends = [f'",partition="{number}{end}' for number, end in each]
        if style.with_member:
            members = zip(ends, _members(cluster, lines[some]), strict=True)
            ends = [end + member for end, member in members]
        each_text = zip(names, ends, texts(found.values[some]), strict=True)
        yield "".join([f"{start}{name}{end}}} {text}\n" for name, end, text in each_text])


def _group_labels(cluster: ClusterView, groups: Ints) -> list[str]:
    """Most neighbours are of one group, whose name is escaped once."""
    numbers, places = np.unique(groups, return_inverse=True)
    names = [label(cluster.groups.names[number]) for number in numbers.tolist()]
    return [names[place] for place in places.tolist()]


def _members(cluster: ClusterView, lines: Ints) -> list[str]:
    """Who reads each line; the brokers' ids of members are not kept."""
    names = cluster.owners.names
    owners, clients = (cluster.arrays[name][lines].tolist() for name in ("owner", "client"))
    return [
        f',member_host="{label(names[owner])}",consumer_id="",client_id="{label(names[client])}"'
        for owner, client in zip(owners, clients, strict=True)
    ]


def _of_logs(family: Family, scraped: Scraped, found: Found) -> Iterator[str]:
    cluster = scraped.cluster
    escaped = [label(topic) for topic in cluster.topics_with_ends.names]
    start = f'{family.name}{{{family.style.cluster}="{scraped.name}",topic="'
    first = cluster.arrays["end_first"]
    for some in _in_slices(np.flatnonzero(found.is_there)):
        if family.of is Of.TOPIC:
            topics, ends = some, ['"'] * len(some)
        else:
            topics = np.searchsorted(first, some, side="right") - 1
            ends = [f'",partition="{number}"' for number in (some - first[topics]).tolist()]
        each = zip(topics.tolist(), ends, texts(found.values[some]), strict=True)
        yield "".join([f"{start}{escaped[topic]}{end}}} {text}\n" for topic, end, text in each])


def _in_slices(numbers: Ints) -> Iterator[Ints]:
    for start in range(0, len(numbers), AT_ONCE):
        yield numbers[start : start + AT_ONCE]


def texts(values: AnyArray) -> list[str]:
    """As Prometheus writes numbers: an infinite one is `+Inf`."""
    if values.dtype.kind != "f":
        return [str(value) for value in values.tolist()]
    rounded = np.round(values.astype(np.float64), DIGITS).tolist()
    return [f"{value:.15g}" if value != np.inf else "+Inf" for value in rounded]
