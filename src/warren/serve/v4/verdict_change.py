"""What would change a verdict: a sentence made from the rule that decided and the numbers it saw.

The first rule that holds decides. So the sentence names what makes that rule no longer hold, and
what the rules after it would then say.
"""

from collections import Counter
from collections.abc import Callable

from warren.evaluate.rules import Rule

Numbers = dict[str, float | None]

UNITS = ((86_400, "days"), (3600, "hours"), (60, "minutes"))


def duration(seconds: float | None) -> str:
    """A length of time, in the largest unit of which it has at least two."""
    seconds = max(seconds or 0, 0)
    size, unit = next((each for each in UNITS if seconds >= 2 * each[0]), (1, "s"))
    return f"{seconds / size:,.0f} {unit}"


def of_group(bad: Counter[str], partitions: int) -> str:
    """`bad` counts the partitions in each bad state."""
    if not bad:
        return "It is no longer OK with the first partition that is not."
    count = sum(bad.values())
    whose = "its only partition" if partitions == 1 else f"{count} of its {partitions} partitions"
    verb = "has" if count == 1 else "have"
    text = f"It is OK again when none is in a bad state: {whose} {verb} to get better."
    if 0 < bad["WARN"] < count:
        text += " Without the others, those that are WARN would make it WARN."
    return text


def _not_judged(n: Numbers) -> str:
    if not n["commits"]:
        return "It is judged after its first commit."
    return (
        f"It is judged as soon as more commits have filled its window to {n['minimum_complete']:g}."
    )


def _caught_up(n: Numbers) -> str:
    return (
        f"With more than {n['allowed_lag']:,.0f} waiting, it has to commit, to move and to reduce "
        "its lag now and then to stay OK."
    )


def _stopped(n: Numbers) -> str:
    return (
        f"The next commit ends STOP. It is OK at once if at most {n['allowed_lag']:,.0f} messages "
        "wait then; otherwise if its lag shrinks within the window, and WARN if it does not."
    )


def _rewound(n: Numbers) -> str:
    return (
        f"A commit at offset {n['highest_offset']:,.0f} or beyond ends REWIND, as does a lag of "
        f"{n['allowed_lag']:,.0f}; otherwise it ends when the step back has left the window, "
        f"after {n['commits']:,.0f} further commits at most."
    )


def _was_caught_up(n: Numbers) -> str:
    return (
        f"After {n['commits']:,.0f} further commits without so low a lag it is judged by whether "
        f"it moves and reduces its lag; {_silence(n)}"
    )


def _stalled(n: Numbers) -> str:
    return (
        f"A commit beyond offset {n['last_offset']:,.0f} ends STALL. It is OK at once if at most "
        f"{n['allowed_lag']:,.0f} messages wait then; otherwise it is WARN until its lag shrinks."
    )


def _falling_behind(n: Numbers) -> str:
    return (
        "One commit with a smaller lag than the one before makes it OK, as does a lag of "
        f"{n['allowed_lag']:,.0f}. Commits that do not move make it STALL; {_silence(n)}"
    )


def _catching_up(n: Numbers) -> str:
    return (
        f"It becomes WARN when its lag has not shrunk in {n['commits']:,.0f} commits in a row, and "
        f"STALL when it has not moved in as many; {_silence(n)}"
    )


def is_at_the_end(n: Numbers) -> bool:
    """The last commit reached a log end that we still remember: then silence is not STOP."""
    end, offset = n["lowest_end"], n["last_offset"]
    return end is not None and offset is not None and end <= offset


def _silence(n: Numbers) -> str:
    if is_at_the_end(n):
        return (
            "without a commit it becomes STOP when every log end that is still remembered is "
            f"beyond offset {n['last_offset']:.0f}."
        )
    return f"a silence of more than {duration(n['window_s'])} makes it STOP."


CHANGE: dict[Rule, Callable[[Numbers], str]] = {
    Rule.NOT_JUDGED: _not_judged,
    Rule.CAUGHT_UP: _caught_up,
    Rule.STOPPED: _stopped,
    Rule.REWOUND: _rewound,
    Rule.WAS_CAUGHT_UP: _was_caught_up,
    Rule.STALLED: _stalled,
    Rule.FALLING_BEHIND: _falling_behind,
    Rule.CATCHING_UP: _catching_up,
}
