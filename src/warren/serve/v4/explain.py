"""Why a group has its status: the rule that decided, the numbers it saw, and a sentence."""

from collections import Counter
from collections.abc import Callable

from warren.evaluate.rules import Rule
from warren.serve.http.site import Site
from warren.serve.v4 import shapes, verdict_change
from warren.serve.v4.groups import find
from warren.serve.v4.lines import MS, group_line, moment, with_windows
from warren.serve.v4.parameters import Why
from warren.serve.v4.verdict_change import Numbers, duration, is_at_the_end

# The rules that come after STOP.
AFTER_STOP = (Rule.REWOUND, Rule.WAS_CAUGHT_UP, Rule.STALLED, Rule.FALLING_BEHIND, Rule.CATCHING_UP)


def why_not_stopped(rule: Rule, n: Numbers) -> str | None:
    """The sentence for a silent partition that is not STOP; None: the rule's own sentence fits."""
    silent, window = n["silent_s"], n["window_s"]
    is_silent = silent is not None and window is not None and silent > window
    if rule not in AFTER_STOP or not is_silent or not is_at_the_end(n):
        return None
    return (
        f"Nothing was committed for {silent:.0f} s, but its last commit, offset "
        f"{n['last_offset']:.0f}, reached a log end that is still remembered, "
        f"{n['lowest_end']:.0f}: it had nothing to do until lately and has not stopped; "
        f"{n['current_lag']:.0f} messages wait, and {_what_decided(rule, n)}."
    )


def _what_decided(rule: Rule, n: Numbers) -> str:
    commits = f"last {n['commits']:.0f} commits" if n["commits"] != 1 else "only commit"
    match rule:
        case Rule.REWOUND:
            return f"it had gone back from offset {n['highest_offset']:.0f} before"
        case Rule.WAS_CAUGHT_UP:
            return f"in its {commits} the lag was down to {n['lowest_lag']:.0f}"
        case Rule.STALLED:
            return f"its {commits} did not move"
        case Rule.FALLING_BEHIND:
            return f"in its {commits} the lag never shrank"
    return f"in its {commits} the lag shrank at least once"


def explain(site: Site, query: Why) -> shapes.Explanation | str:
    found = find(site.view, query.cluster, query.group)
    if isinstance(found, str):
        return found
    cluster, number = found
    lines, as_of_ms = cluster.lines(number), cluster.as_of_ms(number)
    lowest_end = cluster.arrays["lowest_end"][lines].tolist()
    reasons = []
    for at, (line, window) in enumerate(with_windows(cluster, lines, as_of_ms)):
        if query.all or line.status != "OK":
            reasons.append(_reason(site, line, window, as_of_ms / MS, lowest_end[at]))
    status = group_line(query.cluster, cluster, number).status
    bad = Counter[str](reason.status for reason in reasons if reason.status != "OK")
    count = lines.stop - lines.start
    return shapes.Explanation(
        moment(site.view),
        query.cluster,
        query.group,
        status,
        _about_group(status, bad, count),
        verdict_change.of_group(bad, count),
        reasons,
    )


def _about_group(status: str, bad: Counter[str], partitions: int) -> str:
    if not bad:
        return f"None of its {partitions} partitions is in a bad state."
    counted = ", ".join(f"{count} {name}" for name, count in sorted(bad.items()))
    return f"It is {status} because of its worst partition; of {partitions}: {counted}."


def _reason(
    site: Site,
    line: shapes.PartitionLine,
    window: list[shapes.Commit],
    as_of_s: float,
    lowest_end: int,
) -> shapes.Reason:
    numbers = _numbers(site, line, window, as_of_s) | {"lowest_end": lowest_end if window else None}
    rule = Rule[line.rule.upper()]
    why = why_not_stopped(rule, numbers) or WHY[rule](numbers)
    change = verdict_change.CHANGE[rule](numbers)
    return shapes.Reason(line.topic, line.partition, line.status, line.rule, numbers, why, change)


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


def _not_judged(n: Numbers) -> str:
    if not n["commits"]:
        return "Nothing was ever committed here, so there is nothing to judge."
    return (
        f"Its window is filled to {n['complete']:g}, less than the {n['minimum_complete']:g} that "
        "minimum-complete asks for, so it is not judged yet."
    )


def _caught_up(n: Numbers) -> str:
    return (
        f"It is {n['current_lag']:,.0f} messages behind the log end, "
        f"no more than the {n['allowed_lag']:,.0f} allowed."
    )


def _stopped(n: Numbers) -> str:
    return (
        f"Nothing was committed for {duration(n['silent_s'])}, longer than the "
        f"{duration(n['window_s'])} that its last {n['commits']:,.0f} commits span, and "
        f"{n['current_lag']:,.0f} messages wait."
    )


def _rewound(n: Numbers) -> str:
    return (
        f"It went back from offset {n['highest_offset']:,.0f}, is at {n['last_offset']:,.0f} and "
        f"has not come back to where it was; {n['current_lag']:,.0f} messages wait."
    )


def _was_caught_up(n: Numbers) -> str:
    return (
        f"{n['current_lag']:,.0f} messages wait, but within its last {n['commits']:,.0f} commits "
        f"the lag was down to {n['lowest_lag']:,.0f}, no more than the {n['allowed_lag']:,.0f} "
        "allowed."
    )


def _stalled(n: Numbers) -> str:
    return (
        f"It commits, but always offset {n['last_offset']:,.0f}: in {n['commits']:,.0f} commits "
        f"over {duration(n['window_s'])} it has not moved, and {n['current_lag']:,.0f} messages "
        "wait."
    )


def _falling_behind(n: Numbers) -> str:
    if n["first_lag"] is None:
        return (
            f"It moves, {n['current_lag']:,.0f} messages wait, and no lag in its window is known "
            "that would show it catching up."
        )
    return (
        f"It moves, but its lag never shrank over its last {n['commits']:,.0f} commits: "
        f"from {n['first_lag']:,.0f} to {n['last_lag']:,.0f} in {duration(n['window_s'])}."
    )


def _catching_up(n: Numbers) -> str:
    return (
        f"{n['current_lag']:,.0f} messages wait, but it moves and its lag has shrunk at least once "
        f"in its last {n['commits']:,.0f} commits."
    )


WHY: dict[Rule, Callable[[Numbers], str]] = {
    Rule.NOT_JUDGED: _not_judged,
    Rule.CAUGHT_UP: _caught_up,
    Rule.STOPPED: _stopped,
    Rule.REWOUND: _rewound,
    Rule.WAS_CAUGHT_UP: _was_caught_up,
    Rule.STALLED: _stalled,
    Rule.FALLING_BEHIND: _falling_behind,
    Rule.CATCHING_UP: _catching_up,
}
