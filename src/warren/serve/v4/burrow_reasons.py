"""Why a partition has its status by Burrow's rules: a sentence for each, and its cause."""

from collections.abc import Callable

from warren.evaluate.rules import Rule
from warren.model.counted_nouns import counted
from warren.serve.v4.verdict_change import Numbers, duration, is_at_the_end, wait

# The rules that come after STOP.
AFTER_STOP = (Rule.REWOUND, Rule.WAS_CAUGHT_UP, Rule.STALLED, Rule.FALLING_BEHIND, Rule.CATCHING_UP)


def why(rule: Rule, numbers: Numbers) -> str:
    """What the rule saw."""
    return _why_not_stopped(rule, numbers) or WHY[rule](numbers)


def _why_not_stopped(rule: Rule, n: Numbers) -> str | None:
    """The sentence for a silent partition that is not STOP; None: the rule's own sentence fits."""
    silent, window = n["silent_s"], n["window_s"]
    is_silent = silent is not None and window is not None and silent > window
    if rule not in AFTER_STOP or not is_silent or not is_at_the_end(n):
        return None
    return (
        f"Nothing was committed for {duration(silent)}, but its last commit, offset "
        f"{n['last_offset']:,.0f}, reached a log end that is still remembered, "
        f"{n['lowest_end']:,.0f}: it had nothing to do until lately and has not stopped; "
        f"{wait(n['current_lag'])}, and {_what_decided(rule, n)}."
    )


def _commits(n: Numbers) -> str:
    """Those of its window."""
    return "only commit" if n["commits"] == 1 else f"last {counted(n['commits'], 'commit')}"


def _what_decided(rule: Rule, n: Numbers) -> str:
    commits = _commits(n)
    match rule:
        case Rule.REWOUND:
            return f"it had gone back from offset {n['highest_offset']:,.0f} before"
        case Rule.WAS_CAUGHT_UP:
            return f"in its {commits} the lag was down to {n['lowest_lag']:,.0f}"
        case Rule.STALLED:
            return f"its {commits} did not move"
        case Rule.FALLING_BEHIND:
            return f"in its {commits} the lag never shrank"
    return f"in its {commits} the lag shrank at least once"


def _not_judged(n: Numbers) -> str:
    if not n["commits"]:
        return "Nothing was ever committed here, so there is nothing to judge."
    return (
        f"Its window is filled to {n['complete']:g}, less than the {n['minimum_complete']:g} that "
        "minimum-complete asks for, so it is not judged yet."
    )


def _caught_up(n: Numbers) -> str:
    if not n["current_lag"]:
        return "It has read everything."
    return f"{wait(n['current_lag'])}, no more than the {n['allowed_lag']:,.0f} allowed."


def _stopped(n: Numbers) -> str:
    silent, waiting = duration(n["silent_s"]), wait(n["current_lag"])
    if n["commits"] == 1:
        return f"Nothing was committed in the {silent} since its only commit, and {waiting}."
    return (
        f"Nothing was committed for {silent}, longer than the {duration(n['window_s'])} that its "
        f"{_commits(n)} span, and {waiting}."
    )


def _rewound(n: Numbers) -> str:
    return (
        f"It went back from offset {n['highest_offset']:,.0f}, is at {n['last_offset']:,.0f} and "
        f"has not come back to where it was; {wait(n['current_lag'])}."
    )


def _was_caught_up(n: Numbers) -> str:
    return (
        f"{wait(n['current_lag'])}, but within its {_commits(n)} the lag was "
        f"down to {n['lowest_lag']:,.0f}."
    )


def _stalled(n: Numbers) -> str:
    return (
        f"It commits, but always offset {n['last_offset']:,.0f}: in "
        f"{counted(n['commits'], 'commit')} over {duration(n['window_s'])} it has not moved, and "
        f"{wait(n['current_lag'])}."
    )


def _falling_behind(n: Numbers) -> str:
    if n["first_lag"] is None:
        return (
            f"It moves, {wait(n['current_lag'])}, and no lag in its window is known "
            "that would show it catching up."
        )
    return (
        f"It moves, but its lag never shrank over its {_commits(n)}: "
        f"from {n['first_lag']:,.0f} to {n['last_lag']:,.0f} in {duration(n['window_s'])}."
    )


def _query_gone(n: Numbers) -> str:
    return f"Its query is gone, and {wait(n['current_lag'])}."


def _catching_up(n: Numbers) -> str:
    return (
        f"{wait(n['current_lag'])}, but it moves and its lag has shrunk at least once in its "
        f"{_commits(n)}."
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
    Rule.QUERY_GONE: _query_gone,
}


def _still(n: Numbers) -> str:
    """How long it has been where it is; a window that does not move does not tell how it began."""
    seen_s, held_s = (n["window_s"] or 0) + (n["silent_s"] or 0), n.get("held_s") or 0
    return duration(held_s) if held_s > seen_s else f"at least {duration(seen_s)}"


def _wait_there(n: Numbers) -> str:
    return f"{wait(n['current_lag'])}." if n["current_lag"] else "nothing waits."


def _fell_behind(n: Numbers) -> str:
    if n["first_lag"] is None:
        return f"It does not catch up; {_wait_there(n)}"
    grew = f"grew from {n['first_lag']:,.0f} to {n['last_lag']:,.0f}"
    lag = grew if (n["last_lag"] or 0) > n["first_lag"] else "did not shrink"
    return f"Falls behind: its lag {lag} in {duration(n['window_s'])}; {_wait_there(n)}"


# What is the matter, for somebody who sees nothing else of it.
CAUSE: dict[Rule, Callable[[Numbers], str]] = {
    Rule.NOT_JUDGED: lambda n: (
        "Too few commits to judge it yet." if n["commits"] else _not_judged(n)
    ),
    Rule.CAUGHT_UP: _caught_up,
    Rule.STOPPED: lambda n: (
        f"Silent at offset {n['last_offset']:,.0f} for {duration(n['silent_s'])}; {_wait_there(n)}"
    ),
    Rule.REWOUND: lambda n: (
        f"Went back from offset {n['highest_offset']:,.0f} to {n['last_offset']:,.0f}; "
        f"{_wait_there(n)}"
    ),
    Rule.WAS_CAUGHT_UP: lambda n: f"Keeps up; {_wait_there(n)}",
    Rule.STALLED: lambda n: (
        f"Stuck at offset {n['last_offset']:,.0f} for {_still(n)}; {_wait_there(n)}"
    ),
    Rule.FALLING_BEHIND: _fell_behind,
    Rule.CATCHING_UP: lambda n: f"Reads on; {_wait_there(n)}",
    Rule.QUERY_GONE: _query_gone,
}
