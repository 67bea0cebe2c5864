"""Why a group has its status: the rule that decided, the numbers it saw, and a sentence."""

from collections import Counter

import numpy as np
from msgspec import UNSET

from warren.evaluate import reasons
from warren.evaluate.rules import Rule
from warren.model import bounds
from warren.model.arrays import Ints
from warren.model.judgement import STATUS_OF_WORD, Judgement
from warren.serve.board_file.board_view import ClusterView
from warren.serve.http.site import Site
from warren.serve.v4 import burrow_reasons, shapes, verdict_change
from warren.serve.v4.groups import find
from warren.serve.v4.lines import MS, group_line, moment, with_windows
from warren.serve.v4.parameters import Why
from warren.serve.v4.query_words import why_gone
from warren.serve.v4.second_opinion import Evidence
from warren.serve.v4.verdict_change import Numbers

# Words of Warren's evaluator that Burrow's clients see as OK, and that are said all the same.
SAID_OF_OK = ("never", "left", "stale")


def explain(site: Site, query: Why) -> shapes.Explanation | str:
    found = find(site.view, query.cluster, query.group)
    if isinstance(found, str):
        return found
    cluster, number = found
    lines, as_of_ms = cluster.lines(number), cluster.as_of_ms(number)
    found_reasons = []
    for at, read in enumerate(with_windows(cluster, lines, as_of_ms), lines.start):
        if query.all or read[0].status != "OK" or read[0].rule in SAID_OF_OK:
            reason = _reason(site, cluster, at, read, as_of_ms)
            found_reasons.append(_of_gone_query(reason, cluster, query.group, at))
    bad = Counter[str](reason.status for reason in found_reasons if reason.status != "OK")
    worst = _worst_line(cluster, lines)
    cause = _cause(site, cluster, query.group, worst)
    count = lines.stop - lines.start
    line = group_line(query.cluster, cluster, number)
    parts = (cause, _where(cluster, worst, bad, count), _members(line, bad))
    return shapes.Explanation(
        moment(site.view),
        query.cluster,
        query.group,
        line.status,
        " ".join(filter(None, parts)),
        verdict_change.of_group(bad, count),
        found_reasons,
        _second_opinion(site, cluster, lines, as_of_ms) or UNSET,
        line.life,
    )


def _members(line: shapes.GroupLine, bad: Counter[str]) -> str:
    """Whether there is anybody who could read; nothing to say of a group that is good."""
    empty_ms = line.life.empty_since_ms if line.life is not UNSET else None
    return f"It has had no members since {bounds.utc(empty_ms)}." if bad and empty_ms else ""


def _worst_line(cluster: ClusterView, lines: slice) -> int:
    """The worst partition; of several, the one with the greatest lag."""
    status, lag = (cluster.arrays[name][lines] for name in ("status", "current_lag"))
    first: int = lines.start
    return first + int(np.lexsort((-lag, -status.astype(np.int64)))[0])


def _cause(site: Site, cluster: ClusterView, group: str, at: int) -> str:
    """What is the matter, in a sentence that needs no other."""
    as_of_ms = cluster.as_of_ms(cluster.groups.numbers[group])
    (read,) = with_windows(cluster, slice(at, at + 1), as_of_ms)
    reason = _of_gone_query(_reason(site, cluster, at, read, as_of_ms), cluster, group, at)
    if int(cluster.arrays["rule"][at]) == Rule.QUERY_GONE:
        return reason.why
    if cluster.opinions is not None and cluster.opinions.judgement.decides:
        return reasons.cause(cluster.opinions.judgement, at, reason.numbers) or reason.why
    seen = dict(reason.numbers)
    if cluster.opinions is not None:  # which remembers more than the window
        seen["held_s"] = float(cluster.opinions.judgement.held_s[at])
    return burrow_reasons.CAUSE[Rule(int(cluster.arrays["rule"][at]))](seen)


def _where(cluster: ClusterView, worst: int, bad: Counter[str], partitions: int) -> str:
    """Which partition that is about, and how the others are."""
    count = sum(bad.values())
    if partitions == 1 or not count:
        return ""
    topic = cluster.topics.names[int(cluster.arrays["topic"][worst])]
    name = f"{topic}:{cluster.arrays['partition'][worst]}"
    if count == 1:
        others = partitions - 1
        rest = f"its other {others:,} partitions are" if others > 1 else "its other partition is"
        return f"That is {name}; {rest} OK."
    if bad == dict.fromkeys(bad, partitions):
        return f"That is {name}, the worst; all its {partitions:,} partitions are {min(bad)}."
    counted = ", ".join(f"{number:,} {status}" for status, number in sorted(bad.items()))
    return f"That is {name}, the worst; of its {partitions:,} partitions: {counted}."


def _second_opinion(site: Site, cluster: ClusterView, lines: slice, as_of_ms: int) -> str:
    """About the partition that is worst for the evaluator that does not decide."""
    opinions = cluster.opinions
    if opinions is None:
        return ""
    differing = np.flatnonzero(opinions.differs[lines]) + lines.start
    if not len(differing):
        return ""
    at = int(differing[np.argmax(_statuses_by_the_other(opinions.judgement, differing))])
    (read,) = with_windows(cluster, slice(at, at + 1), as_of_ms)
    reason = _reason(site, cluster, at, read, as_of_ms)
    others = len(differing) - 1
    likewise = f" They differ about {others:,} more of its partitions." if others else ""
    return f"On {reason.topic}:{reason.partition}, {reason.second_opinion}{likewise}"


def _statuses_by_the_other(judgement: Judgement, lines: Ints) -> Ints:
    if judgement.decides:
        return judgement.burrow[lines].astype(np.int64)
    return STATUS_OF_WORD[judgement.before[lines]].astype(np.int64)


def _reason(
    site: Site,
    cluster: ClusterView,
    at: int,
    read: tuple[shapes.PartitionLine, list[shapes.Commit]],
    as_of_ms: int,
) -> shapes.Reason:
    line, window = read
    numbers = _numbers(site, line, window, as_of_ms / MS)
    numbers["lowest_end"] = int(cluster.arrays["lowest_end"][at]) if window else None
    rule = Rule(int(cluster.arrays["rule"][at]))
    why = burrow_reasons.why(rule, numbers)
    reason = shapes.Reason(
        line.topic,
        line.partition,
        line.status,
        line.rule,
        numbers,
        why,
        verdict_change.CHANGE[rule](numbers),
        last_owner=line.last_owner,
    )
    if cluster.opinions is not None:
        _add_opinions(reason, cluster.opinions.judgement, at)
    return reason


def _of_gone_query(
    reason: shapes.Reason, cluster: ClusterView, group: str, at: int
) -> shapes.Reason:
    """Both evaluators say STOP of a query that is gone, and this is why."""
    query = cluster.facts.queries.get(group)
    is_gone = int(cluster.arrays["rule"][at]) == Rule.QUERY_GONE and reason.status == "STOP"
    if query is not None and is_gone:
        waiting = reason.numbers["current_lag"] or 0
        reason.why = why_gone(query, waiting, cluster.facts.now_s * MS)
        reason.change = verdict_change.CHANGE[Rule.QUERY_GONE](reason.numbers)
    return reason


def _add_opinions(reason: shapes.Reason, judgement: Judgement, at: int) -> None:
    """When Warren's evaluator decides, the reason is its reason."""
    reason.rhythm = reasons.rhythm(judgement, at) or UNSET
    reason.second_opinion = reasons.second_opinion(judgement, at, reason.why) or UNSET
    if not judgement.decides:
        return
    reason.why, reason.change = reasons.why(judgement, at), reasons.change(judgement, at)
    reason.since_ms = int(judgement.since_s[at]) * MS or UNSET
    if (figures := judgement.figures.of(at)) is not None:
        reason.evidence = Evidence.of(judgement, at, figures)
    for name in ("held_s", "limit_s"):
        reason.numbers[name] = round(float(getattr(judgement, name)[at]), 3)


def _numbers(
    site: Site, line: shapes.PartitionLine, window: list[shapes.Commit], as_of_s: float
) -> Numbers:
    lags = [commit.lag for commit in window if commit.lag is not None]
    offsets = [commit.offset for commit in window]
    first_ms, last_ms = (window[0].committed_ms, window[-1].committed_ms) if window else (0, 0)
    return {
        "commits": len(window),
        "complete": line.complete,
        "minimum_complete": site.settings.minimum_complete,
        "allowed_lag": site.settings.allowed_lag,
        "current_lag": line.current_lag,
        "first_offset": offsets[0] if offsets else None,
        "last_offset": offsets[-1] if offsets else None,
        "highest_offset": max(offsets) if offsets else None,
        "first_lag": lags[0] if lags else None,
        "last_lag": lags[-1] if lags else None,
        "lowest_lag": min(lags) if lags else None,
        "window_s": (last_ms - first_ms) / MS if window else None,
        "silent_s": as_of_s - last_ms / MS if window else None,
    }
