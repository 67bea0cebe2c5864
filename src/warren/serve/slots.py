"""How many may do something at a time."""


class Slots:
    """Used by one event loop: between looking and taking nobody else comes."""

    def __init__(self, count: int) -> None:
        self._free = count

    @property
    def is_full(self) -> bool:
        return self._free <= 0

    def __enter__(self) -> None:
        self._free -= 1

    def __exit__(self, *_: object) -> None:
        self._free += 1
