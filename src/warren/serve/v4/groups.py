"""Groups and their partitions."""

from collections import Counter
from collections.abc import Iterator

import msgspec
import numpy as np

from warren.model import Status
from warren.serve.answers import Stream
from warren.serve.site import Site
from warren.serve.v4 import shapes
from warren.serve.v4.lines import commits, group_line, moment, partition_lines
from warren.serve.v4.queries import AllGroups, OneGroup, OnePartition
from warren.serve.view import Cluster, View

NO_GENERATION = -1
AT_ONCE = 200  # lines sent at a time

Place = tuple[str, int]  # cluster, and number of the group in it


def all_groups(site: Site, query: AllGroups) -> shapes.Groups | Stream:
    view = site.view
    chosen = _sorted(view, _matching(view, query), query.sort)
    if query.format == "ndjson":
        headers = [("content-type", "application/x-ndjson"), *site.cors]
        return Stream(200, headers, _in_lines(view, chosen))
    page = chosen[query.offset : query.offset + query.limit]
    lines = [group_line(name, view.clusters[name], number) for name, number in page]
    return shapes.Groups(moment(view), len(chosen), lines)


def _in_lines(view: View, chosen: list[Place]) -> Iterator[bytes]:
    for start in range(0, len(chosen), AT_ONCE):
        some = chosen[start : start + AT_ONCE]
        lines = [group_line(name, view.clusters[name], number) for name, number in some]
        yield b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def _matching(view: View, query: AllGroups) -> list[Place]:
    found: list[Place] = []
    for name, cluster in sorted(view.clusters.items()):
        if query.cluster in {"", name}:
            found += [(name, number) for number in _numbers(cluster, query)]
    return found


def _numbers(cluster: Cluster, query: AllGroups) -> list[int]:
    chosen = cluster.arrays["group_total_lag"] >= query.min_lag
    if query.status:
        chosen = chosen & (cluster.arrays["group_status"] == Status[query.status])
    numbers: list[int] = np.flatnonzero(chosen).tolist()
    if not query.match:
        return numbers
    part, names = query.match.lower(), cluster.groups.names
    return [number for number in numbers if part in names[number].lower()]


def _sorted(view: View, places: list[Place], order: str) -> list[Place]:
    """By name already; sorting keeps that among equals."""
    column = {
        "lag": "group_total_lag",
        "status": "group_status",
        "last_commit": "group_last_commit_ms",
    }.get(order.lstrip("-"))
    if column is None:
        return places
    values = {name: cluster.arrays[column].tolist() for name, cluster in view.clusters.items()}
    sign = -1 if order.startswith("-") else 1
    return sorted(places, key=lambda place: sign * values[place[0]][place[1]])


def one_group(site: Site, query: OneGroup) -> shapes.Group | str:
    found = find(site.view, query.cluster, query.group)
    if isinstance(found, str):
        return found
    cluster, number = found
    partitions = list(partition_lines(cluster, cluster.lines(number)))
    owners = Counter((each.owner, each.client_id) for each in partitions)
    members = [shapes.Member(*who, count) for who, count in sorted(owners.items()) if any(who)]
    generation = int(cluster.arrays["group_generation"][number])
    return shapes.Group(
        moment(site.view),
        group_line(query.cluster, cluster, number),
        None if generation == NO_GENERATION else generation,
        members,
        partitions,
    )


def one_partition(site: Site, query: OnePartition) -> shapes.Partition | str:
    found = find(site.view, query.cluster, query.group)
    if isinstance(found, str):
        return found
    cluster, number = found
    line = _line(cluster, number, query)
    if line is None:
        return "the group does not read such a partition"
    filled = int(cluster.arrays["filled"][line])
    at = slice(line, line + 1)
    window = commits(cluster.windows_of(at)[0], filled, cluster.facts.intervals)
    (summary,) = partition_lines(cluster, at)
    return shapes.Partition(moment(site.view), query.cluster, query.group, summary, window)


def _line(cluster: Cluster, number: int, query: OnePartition) -> int | None:
    lines = cluster.lines(number)
    topic = cluster.topics.numbers.get(query.topic, -1)
    is_it = (cluster.arrays["topic"][lines] == topic) & (
        cluster.arrays["partition"][lines] == query.partition
    )
    found = np.flatnonzero(is_it)
    return lines.start + int(found[0]) if len(found) else None


def find(view: View, name: str, group: str) -> tuple[Cluster, int] | str:
    """A group on the board, or that there is none."""
    cluster = view.clusters.get(name)
    if cluster is None:
        return "there is no such cluster"
    number = cluster.groups.numbers.get(group)
    return (cluster, number) if number is not None else "there is no such group"
