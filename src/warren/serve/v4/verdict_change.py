"""What would change a verdict: a sentence made from the rule that decided and the numbers it saw.

The first rule that holds decides. So the sentence names what makes that rule no longer hold, and
what the rules after it would then say.
"""

from collections import Counter
from collections.abc import Callable

from warren.evaluate.rules import Rule
from warren.model.counted_nouns import counted

Numbers = dict[str, float | None]

UNITS = ((86_400, "days"), (3600, "hours"), (60, "minutes"))


def duration(seconds: float | None) -> str:
    """A length of time, in the largest unit of which it has at least two."""
    seconds = max(seconds or 0, 0)
    size, unit = next((each for each in UNITS if seconds >= 2 * each[0]), (1, "s"))
    return f"{seconds / size:,.0f} {unit}"


def wait(number: float | None) -> str:
    return f"{counted(number, 'message')} wait{'s' if number == 1 else ''}"


def of_group(bad: Counter[str], partitions: int) -> str:
    """`bad` counts the partitions in each bad state; nothing is said of a group without any."""
    count = sum(bad.values())
    if not count:
        return ""
    if partitions == 1:
        return "It is OK again when its only partition is."
    which = "that partition is" if count == 1 else f"these {count:,} partitions are"
    text = f"It is OK again when {which}."
    if 0 < bad["WARN"] < count:
        text += " If only those that are WARN were left, it would be WARN."
    return text


def _is_little(n: Numbers) -> str:
    """As a condition: what is so little that the lag does not count."""
    allowed = n["allowed_lag"]
    return f"at most {wait(allowed)}" if allowed else "everything is read"


def _not_judged(n: Numbers) -> str:
    if not n["commits"]:
        return "It is judged after its first commit."
    return (
        f"It is judged as soon as more commits have filled its window to {n['minimum_complete']:g}."
    )


def _caught_up(n: Numbers) -> str:
    more = f"more than {n['allowed_lag']:,.0f} wait" if n["allowed_lag"] else "something waits"
    return f"While {more}, it has to commit, to move and to reduce its lag now and then to stay OK."


def _stopped(n: Numbers) -> str:
    return (
        f"The next commit ends STOP. It is OK at once if {_is_little(n)} then; otherwise if its "
        "lag shrinks within the window, and WARN if it does not."
    )


def _rewound(n: Numbers) -> str:
    return (
        f"A commit at offset {n['highest_offset']:,.0f} or beyond ends REWIND, and so does one "
        f"after which {_is_little(n)}; otherwise it ends when the step back has left the window, "
        f"after {counted(n['commits'], 'further commit')} at most."
    )


def _was_caught_up(n: Numbers) -> str:
    return (
        f"After {counted(n['commits'], 'further commit')} without so low a lag it is judged by "
        f"whether it moves and reduces its lag; {_silence(n)}"
    )


def _stalled(n: Numbers) -> str:
    return (
        f"A commit beyond offset {n['last_offset']:,.0f} ends STALL. It is OK at once if "
        f"{_is_little(n)} then; otherwise it is WARN until its lag shrinks."
    )


def _falling_behind(n: Numbers) -> str:
    return (
        "One commit with a smaller lag than the one before makes it OK, and so does one after "
        f"which {_is_little(n)}. Commits that do not move make it STALL; {_silence(n)}"
    )


def _catching_up(n: Numbers) -> str:
    return (
        f"It becomes WARN when its lag has not shrunk in {counted(n['commits'], 'commit')} in a "
        f"row, and STALL when it has not moved in as many; {_silence(n)}"
    )


def is_at_the_end(n: Numbers) -> bool:
    """The last commit reached a log end that we still remember: then silence is not STOP."""
    end, offset = n["lowest_end"], n["last_offset"]
    return end is not None and offset is not None and end <= offset


def _silence(n: Numbers) -> str:
    if is_at_the_end(n):
        return (
            "without a commit it becomes STOP when every log end that is still remembered is "
            f"beyond offset {n['last_offset']:,.0f}."
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
    Rule.QUERY_GONE: lambda _: "A new run that goes on reading ends STOP.",
}
