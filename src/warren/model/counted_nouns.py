"""How many of something, as people write it."""


def counted(number: float | None, noun: str) -> str:
    """`1 message`, `2,808 messages`; what is not known counts as none."""
    return f"{number or 0:,.0f} {noun}{'' if number == 1 else 's'}"
