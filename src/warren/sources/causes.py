"""Why a stream ended: what Spark tells begins with itself, and ends with the reason."""

import re

_CAUSE = re.compile(r"^\s*Caused by: (?:[\w$]+\.)*([\w$]+)(?:: (.*))?$", re.MULTILINE)


def root_cause(told: str) -> str:
    """The message of the innermost of the exceptions; of one alone, its first line."""
    causes: list[tuple[str, str]] = _CAUSE.findall(told)
    if not causes:
        return told.strip().partition("\n")[0].strip()
    kind, message = causes[-1]
    return message.strip() or kind
