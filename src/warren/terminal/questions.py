"""What the commands request, whoever answers."""

from typing import Protocol

from warren.serve.v4.shapes import Explanation, Group, Groups, Overview


class Answers(Protocol):
    """Raises `Unanswered`, or `GroupUnknown`, instead of answering."""

    def overview(self) -> Overview: ...

    def groups(self) -> Groups:
        """All of them."""
        ...

    def group(self, cluster: str, group: str) -> Group: ...

    def explain(self, cluster: str, group: str) -> Explanation: ...
