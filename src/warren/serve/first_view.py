"""The first view of the page as HTML: shown before the script runs, and to browsers without it."""

from collections import Counter
from collections.abc import Iterable
from html import escape
from urllib.parse import parse_qs, urlencode

import numpy as np

from warren.model import bounds
from warren.model.counted_nouns import counted
from warren.model.status import Status
from warren.serve.board_file.board_view import View
from warren.serve.http.site import Site
from warren.serve.v4 import number_words, shapes
from warren.serve.v4.explain import explain
from warren.serve.v4.groups import Chosen, one_group
from warren.serve.v4.lines import starting
from warren.serve.v4.parameters import OneGroup, Why

GROUP_STATUSES = (Status.ERR, Status.WARN, Status.OK)
NOTHING = "&ndash;"
UNKNOWN = "&mdash;"
MOST = 100  # lines of a table
MS = 1000
UNITS = ((86_400, "d"), (3600, "h"), (60, "min"))

GROUP_HEADS = ("Status", "Group", "Cluster", "Behind by", "Lag", "Worst partition", "Last commit")
PARTITION_HEADS = (
    *("Status", "Topic", "Partition", "Behind by", "Lag"),
    *("Start", "End", "Complete", "Owner"),
)


def render(site: Site, query: str) -> str:
    """The view for a query string; the first value of a parameter counts."""
    parameters = {name: values[0] for name, values in parse_qs(query).items()}
    if "group" in parameters:
        return _group(site, parameters.get("cluster", ""), parameters["group"])
    return _overview(site.view, parameters.get("match", ""))


def as_of(view: View) -> str:
    moment_ms = view.facts.moment_ms
    return f"as of {exact(moment_ms)}" if moment_ms else "starting"


def exact(ms: int) -> str:
    return bounds.moment(ms).strftime("%Y-%m-%d %H:%M:%S UTC")


def _overview(view: View, match: str) -> str:
    chosen = _worst_first(view, match.lower())
    lines = [_group_cells(line, view) for line in chosen.lines(view, 0, MOST)]
    return (
        "<article class='page'><h1 class='unseen'>Consumer groups</h1>"
        f"{_starting(view)}{_clusters(view)}<form class='tools' action='/'>"
        "<input type='search' name='match' aria-label='Search groups' placeholder='Group' "
        f"value='{escape(match)}'></form>"
        f"<section class='card'>{_table('Consumer groups', GROUP_HEADS, lines)}</section>"
        f"{_more(chosen.number.size)}"
        "</article>"
    )


def _starting(view: View) -> str:
    """How far reading is, until everything has been read."""
    text = starting(view)
    return f"<p class='notice' role='status'>{escape(text)}</p>" if text else ""


def _worst_first(view: View, match: str) -> Chosen:
    names = sorted(view.clusters)
    clusters = [view.clusters[name] for name in names]
    numbers = [
        np.array([at for at, group in enumerate(each.groups.names) if match in group.lower()], int)
        for each in clusters
    ]
    columns = {
        column: np.concatenate(
            [np.zeros(0, np.int64)]
            + [each.arrays[column][at] for each, at in zip(clusters, numbers, strict=True)]
        ).astype(np.int64)
        for column in ("group_status", "group_total_lag")
    }
    order = np.lexsort((-columns["group_total_lag"], -columns["group_status"]))
    cluster = np.repeat(np.arange(len(names)), [len(each) for each in numbers])
    number = np.concatenate([np.zeros(0, np.int64), *numbers])
    return Chosen(names, cluster[order], number[order])


def _clusters(view: View) -> str:
    cards = "".join(_cluster(name, view) for name in sorted(view.clusters))
    return f"<div class='clusters'>{cards}</div>"


def _cluster(name: str, view: View) -> str:
    statuses = view.clusters[name].arrays["group_status"]
    counts = {each: np.count_nonzero(statuses == each) for each in GROUP_STATUSES}
    items = "".join(f"<span>{_badge(each.name)} {count:,}</span>" for each, count in counts.items())
    return (
        f"<div class='cluster'><span class='title'>{_name(name)}"
        f"<span class='of'>{counted(len(statuses), 'group')}</span></span>"
        f"<span class='counts'>{items}</span></div>"
    )


def _group_cells(line: shapes.GroupLine, view: View) -> Iterable[str]:
    where = escape(urlencode({"cluster": line.cluster, "group": line.group}))
    worst = line.max_lag
    yield _badge(line.status)
    yield f"<a href='/?{where}'>{_name(line.group)}</a>"
    yield _name(line.cluster)
    yield _behind(line)
    yield f"{line.total_lag:,}"
    yield _name(f"{worst.topic}:{worst.partition}") if worst and worst.lag else NOTHING
    yield _ago(line.last_commit_ms, view.facts.moment_ms)


def _group(site: Site, cluster: str, group: str) -> str:
    found = one_group(site, OneGroup(cluster=cluster, group=group))
    why = explain(site, Why(cluster=cluster, group=group, all=True))
    if isinstance(found, str) or isinstance(why, str):
        return f"<p class='problem'>{escape(str(found))}</p><p><a href='/'>All groups</a></p>"
    reasons = "".join(_reasons(why.reasons))
    lines = [_partition_cells(each) for each in sorted(found.partitions, key=_trouble)[:MOST]]
    return (
        "<article class='page'><header class='title'><div><p class='trail'><a href='/'>Groups</a> "
        f"/ {_name(cluster)}</p><h1>{_name(group)}</h1></div>{_badge(why.status)}</header>"
        f"{_alarms(found.summary)}"
        f"<section class='card verdict {why.status.lower()}'><p class='why'>{escape(why.why)} "
        f"<span class='change'>{escape(why.change)}</span></p>{_second_opinion(why)}"
        f"<ul class='reasons'>{reasons}</ul>"
        f"</section><section class='card'>{_table('Partitions', PARTITION_HEADS, lines)}</section>"
        f"{_more(len(found.partitions))}</article>"
    )


def _alarms(line: shapes.GroupLine) -> str:
    found = number_words.alarms(line, line.offsets_expire_s)
    lines = "".join(f"<p class='alarm'>{escape(each.text)}</p>" for each in found)
    return f"<div class='alarms'>{lines}</div>"


def _second_opinion(why: shapes.Explanation) -> str:
    return (
        f"<p class='second-opinion'>{escape(why.second_opinion)}</p>" if why.second_opinion else ""
    )


def _reasons(reasons: list[shapes.Reason]) -> Iterable[str]:
    """One reason for each rule, the worst first, with the number of partitions like it."""
    worst_first = sorted(reasons, key=_trouble)
    count = Counter(each.rule for each in reasons)
    first = {each.rule: each for each in reversed(worst_first)}
    for each in sorted(first.values(), key=_trouble):
        others = count[each.rule] - 1
        likewise = f"<p class='of'>Likewise: {counted(others, 'other')}</p>" if others else ""
        rhythm = f"<p class='rhythm'>{escape(each.rhythm)}</p>" if each.rhythm else ""
        yield (
            f"<li>{_badge(each.status)}<div><p>{_name(f'{each.topic}:{each.partition}')} "
            f"{escape(each.why)}</p><p class='change'>{escape(each.change)}</p>{rhythm}{likewise}"
            "</div></li>"
        )


def _trouble(of_partition: shapes.Reason | shapes.PartitionLine) -> int:
    """A sort key: the worst status first; equal ones keep their order."""
    return -Status[of_partition.status]


def _more(total: int) -> str:
    return f"<p class='of'>and {total - MOST:,} more</p>" if total > MOST else ""


def _partition_cells(line: shapes.PartitionLine) -> Iterable[str]:
    yield _badge(line.status)
    yield _name(line.topic)
    yield str(line.partition)
    yield _behind(line)
    yield f"{line.current_lag:,}"
    yield f"{line.start.offset:,}" if line.start else NOTHING
    yield f"{line.end.offset:,}" if line.end else NOTHING
    yield f"{line.complete:.0%}"
    yield _name(line.owner) if line.owner else NOTHING


def _behind(line: shapes.GroupLine | shapes.PartitionLine) -> str:
    """How far behind; on hover the bounds, or why it is not known."""
    found = number_words.behind(line)
    title = number_words.age_bounds(line) if found else "; ".join(line.lacks)
    return f"<span title='{escape(title)}'>{escape(found) or UNKNOWN}</span>"


def _table(label: str, heads: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    head = "".join(f"<th scope='col'>{each}</th>" for each in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in line)}</tr>" for line in lines)
    table = (
        f"<table aria-label='{label}'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
    return (
        f"<div class='scroll whole' tabindex='0' role='region' aria-label='{label}'>{table}</div>"
    )


def _badge(status: str) -> str:
    return f"<span class='status {status.lower()}'>{status}</span>"


def _name(name: str) -> str:
    """A name from a cluster; `bdi` isolates its direction of writing from ours."""
    return f"<bdi class='name' title='{escape(name)}'>{escape(name)}</bdi>"


def _ago(ms: int, now_ms: int) -> str:
    seconds = max(now_ms - ms, 0) / MS
    size, unit = next(((size, unit) for size, unit in UNITS if seconds >= 1.5 * size), (1, "s"))
    return f"<time title='{exact(ms)}'>{seconds / size:.0f} {unit} ago</time>"
