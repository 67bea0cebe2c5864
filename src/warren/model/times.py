"""Times as people write them: "24h", "2026-11-01", "2026-11-01T12:30", epoch milliseconds."""

import re
from datetime import UTC, datetime

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
AGO = re.compile(r"(\d{1,9})([smhdw])")
EPOCH_MS = re.compile(r"\d{12,15}")
ACCEPTED = (
    'must be a time before now such as 90m, 24h or 7d, a date or time such as "2026-11-01" or '
    '"2026-11-01T12:30" (UTC unless it says otherwise), or milliseconds since 1970'
)


def moment(text: str, now_ms: int) -> int:
    """Milliseconds since 1970; raises ValueError with a message for the user."""
    ago = AGO.fullmatch(text)
    if ago:
        return max(now_ms - int(ago[1]) * SECONDS[ago[2]] * 1000, 0)
    if EPOCH_MS.fullmatch(text):
        return int(text)
    try:
        time = datetime.fromisoformat(text)
        return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{text!r} is no time; {ACCEPTED}") from error
