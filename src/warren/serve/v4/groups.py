"""Groups, their partitions, and every commit that a window holds."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import numpy as np

from warren.evaluate.judge import STATUS_OF
from warren.evaluate.rules import Evidence, Rule, decide
from warren.model.arrays import Bytes, Counts, Ints, Mask
from warren.model.status import Status
from warren.serve.board_file.board_view import ClusterView, View
from warren.serve.board_file.commits_file import Windows
from warren.serve.http.answers import Stream
from warren.serve.http.site import Site
from warren.serve.v4 import changes, shapes
from warren.serve.v4.lines import group_line, group_lines, moment, partition_lines, with_windows
from warren.serve.v4.membership import life_of
from warren.serve.v4.parameters import AllGroups, OneCluster, OneGroup, OnePartition
from warren.serve.v4.query_words import about


def board_header(view: View) -> tuple[str, str]:
    return ("x-warren-board", msgspec.json.encode(moment(view)).decode())


NO_GENERATION = -1
AT_ONCE = 200  # lines sent at a time
NONE = np.zeros(0, np.int64)

COLUMNS = {
    "lag": "group_total_lag",
    "age": "group_age_s",
    "status": "group_status",
    "last_commit": "group_last_commit_ms",
}


class Chosen(NamedTuple):
    """Groups, by the place of their cluster in `clusters` and by their number in it."""

    clusters: list[str]
    cluster: Ints
    number: Ints

    def lines(self, view: View, start: int, stop: int) -> list[shapes.GroupLine]:
        some, numbers = self.cluster[start:stop], self.number[start:stop]
        made = dict[int, shapes.GroupLine]()
        for cluster in np.unique(some).tolist():
            name, places = self.clusters[cluster], np.flatnonzero(some == cluster)
            lines = group_lines(name, view.clusters[name], numbers[places])
            made |= zip(places.tolist(), lines, strict=True)
        return [made[place] for place in range(len(some))]


def all_groups(site: Site, query: AllGroups) -> shapes.Groups | Stream:
    view = site.view
    chosen = _choose(view, query)
    if query.format == "ndjson":
        # The lines are groups and nothing else, so the board is in a header.
        headers = [("content-type", "application/x-ndjson"), board_header(view), *site.cors]
        return Stream(200, headers, _in_lines(view, chosen))
    page = chosen.lines(view, query.offset, query.offset + query.limit)
    return shapes.Groups(moment(view), chosen.number.size, page)


def _in_lines(view: View, chosen: Chosen) -> Iterator[bytes]:
    for start in range(0, chosen.number.size, AT_ONCE):
        lines = chosen.lines(view, start, start + AT_ONCE)
        yield b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def _choose(view: View, query: AllGroups) -> Chosen:
    """The groups that match, sorted. They come sorted by name, and the sort is stable."""
    clusters = sorted(name for name in view.clusters if query.cluster in {"", name})
    numbers = [_numbers(view.clusters[name], query) for name in clusters]
    lengths = [len(each) for each in numbers]
    chosen = Chosen(
        clusters, np.repeat(np.arange(len(clusters)), lengths), np.concatenate([NONE, *numbers])
    )
    column = COLUMNS.get(query.sort.lstrip("-"))
    if column is None:
        return chosen
    values = [
        view.clusters[name].arrays[column][each]
        for name, each in zip(clusters, numbers, strict=True)
    ]
    sign = -1 if query.sort.startswith("-") else 1
    # What is not known is NaN, and comes last in both directions.
    order = np.argsort(sign * np.concatenate([NONE, *values]), kind="stable")
    return Chosen(clusters, chosen.cluster[order], chosen.number[order])


def _numbers(cluster: ClusterView, query: AllGroups) -> Ints:
    is_chosen = cluster.arrays["group_total_lag"] >= query.min_lag
    if query.min_age:
        is_chosen = is_chosen & (cluster.arrays["group_age_s"] >= query.min_age)
    if query.status:
        is_chosen = is_chosen & (cluster.arrays["group_status"] == Status[query.status])
    for word in query.search.lower().split():
        is_chosen = is_chosen & _has_word(cluster, word)
    numbers = np.flatnonzero(is_chosen)
    if not query.match:
        return numbers
    part, names = query.match.lower(), cluster.groups.names
    found = [number for number in numbers.tolist() if part in names[number].lower()]
    return np.array(found, np.int64)


def _has_word(cluster: ClusterView, word: str) -> Mask:
    """Which groups have it in their name, or in the name of a topic or an owner."""
    found = _are_named(cluster.groups.names, word)
    for column, known in (("topic", cluster.topics), ("owner", cluster.owners)):
        are_named = _are_named(known.names, word)
        if are_named.any():
            first = cluster.arrays["group_first"][:-1]
            found |= np.logical_or.reduceat(are_named[cluster.arrays[column]], first)
    return found


def _are_named(names: list[str], word: str) -> Mask:
    return np.fromiter((word in name.lower() for name in names), np.bool_, len(names))


def one_group(site: Site, query: OneGroup) -> shapes.Group | str:
    found = find(site.view, query.cluster, query.group)
    if isinstance(found, str):
        return found
    cluster, number = found
    partitions = list(partition_lines(cluster, number))
    owners = Counter((each.owner, each.client_id) for each in partitions)
    for idle in cluster.facts.idle.get(query.group, ()):
        owners.setdefault(idle, 0)
    members = [shapes.Member(*who, count) for who, count in sorted(owners.items()) if any(who)]
    query_facts = cluster.facts.queries.get(query.group)
    generation = int(cluster.arrays["group_generation"][number])
    return shapes.Group(
        moment(site.view),
        group_line(query.cluster, cluster, number),
        None if generation == NO_GENERATION else generation,
        members,
        partitions,
        life_of(cluster, number),
        changes.since(site.view, query.cluster, number),
        query_facts,
        about(query_facts, cluster.facts.now_s * 1000) if query_facts else [],
    )


def one_partition(site: Site, query: OnePartition) -> shapes.Partition | str:
    found = find(site.view, query.cluster, query.group)
    if isinstance(found, str):
        return found
    cluster, number = found
    line = _line(cluster, number, query)
    if line is None:
        return "the group does not read such a partition"
    one = slice(line, line + 1)
    ((summary, window),) = with_windows(cluster, one, cluster.as_of_ms(number))
    return shapes.Partition(moment(site.view), query.cluster, query.group, summary, window)


def _line(cluster: ClusterView, number: int, query: OnePartition) -> int | None:
    lines = cluster.lines(number)
    topic = cluster.topics.numbers.get(query.topic, -1)
    is_wanted = (cluster.arrays["topic"][lines] == topic) & (
        cluster.arrays["partition"][lines] == query.partition
    )
    found = np.flatnonzero(is_wanted)
    return lines.start + int(found[0]) if len(found) else None


def others(site: Site, query: OneCluster) -> shapes.OtherGroups | str:
    cluster = site.view.clusters.get(query.cluster)
    if cluster is None:
        return "there is no such cluster"
    return shapes.OtherGroups(
        moment(site.view),
        [
            shapes.OtherLine(
                name,
                each.kind,
                each.members,
                each.static_members,
                each.generation,
                None if each.empty_since_s is None else int(each.empty_since_s * 1000),
                [*each.topics],
            )
            for name, each in cluster.facts.others.items()
        ],
    )


def find(view: View, name: str, group: str) -> tuple[ClusterView, int] | str:
    """A group on the board, or why it is not found."""
    cluster = view.clusters.get(name)
    if cluster is None:
        return "there is no such cluster"
    number = cluster.groups.numbers.get(group)
    return (cluster, number) if number is not None else "there is no such group"


NOT_KNOWN = -1


def windows(site: Site, query: OneGroup) -> shapes.Windows | str:
    found = find(site.view, query.cluster, query.group)
    if isinstance(found, str):
        return found
    cluster, number = found
    return shapes.Windows(
        moment(site.view),
        query.cluster,
        query.group,
        cluster.as_of_ms(number),
        _windows(site, cluster, cluster.lines(number)),
    )


def _windows(site: Site, cluster: ClusterView, lines: slice) -> list[shapes.Window]:
    arrays, intervals = cluster.arrays, cluster.facts.intervals
    stored, filled = cluster.windows_of(lines), arrays["filled"][lines]
    judged = statuses(stored, filled, site.settings.minimum_complete, site.settings.allowed_lag)
    columns = [stored[name].tolist() for name in ("committed_ms", "offset", "lag")]
    columns.append(judged.tolist())
    topics = [cluster.topics.names[at] for at in arrays["topic"][lines].tolist()]
    found = []
    for at, (topic, partition, count) in enumerate(
        zip(topics, arrays["partition"][lines].tolist(), filled.tolist(), strict=True)
    ):
        committed_ms, offset, lag, status = (column[at][intervals - count :] for column in columns)
        known = [each if each >= 0 else None for each in lag]
        names: list[Any] = [None if each == NOT_KNOWN else Status(each).name for each in status]
        found.append(shapes.Window(topic, partition, committed_ms, offset, known, names))
    return found


def statuses(stored: Windows, filled: Counts, minimum_complete: float, allowed_lag: int) -> Ints:
    """The status of each partition just after each commit of its window, where it is known.

    In a full window, older commits are gone. Without them we can judge only the last commit, and
    those at which the lag was no more than allowed.
    """
    intervals = stored["offset"].shape[1]
    found = np.full((len(stored), intervals), NOT_KNOWN, np.int64)
    commits = filled.astype(np.int64)
    for column in range(intervals):
        held = commits - (intervals - 1 - column)  # commits up to this one
        rule = _rule_then(stored, column, allowed_lag)
        rule[held < np.float32(minimum_complete) * intervals] = Rule.NOT_JUDGED
        is_whole = (commits < intervals) | (column == intervals - 1)
        is_known = (held > 0) & (stored["lag"][:, column] >= 0)
        some = np.flatnonzero(is_known & (is_whole | (rule == Rule.CAUGHT_UP)))
        found[some, column] = STATUS_OF[rule[some]]
    return found


def _rule_then(stored: Windows, column: int, allowed_lag: int) -> Bytes:
    """The rule that decided at a commit: at that moment there is no silence, so no STOP."""
    offset, committed_ms, lag = (
        stored[name][:, : column + 1] for name in ("offset", "committed_ms", "lag")
    )
    ends, had_stopped = np.zeros(len(stored), np.int64), np.zeros(len(stored), np.bool_)
    evidence = Evidence(offset, committed_ms, lag, np.maximum(lag[:, -1], 0), ends, had_stopped)
    return decide(evidence, allowed_lag, 0)
