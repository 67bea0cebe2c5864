"""Why one that commits nothing has not stopped: it had reached the end of its log not long ago.

What then decided is a later rule, whose own sentence may speak of commits that do not come.
"""

from warren.evaluate.rules import Rule
from warren.serve.v4.change import Numbers, is_at_the_end

# Those that come after STOP.
LATER = (Rule.REWOUND, Rule.WAS_CAUGHT_UP, Rule.STALLED, Rule.FALLING_BEHIND, Rule.CATCHING_UP)


def why(rule: Rule, n: Numbers) -> str | None:
    """None when it is not so: the rule's own sentence is right."""
    silent, window = n["silent_s"], n["window_s"]
    is_silent = silent is not None and window is not None and silent > window
    if rule not in LATER or not is_silent or not is_at_the_end(n):
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
