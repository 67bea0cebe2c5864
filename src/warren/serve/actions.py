"""What a request asks of the pipeline's process; the workers only pass it on."""

from typing import Protocol


class Actions(Protocol):
    """Called on threads of the HTTP side, several at a time; `group_history` on its own."""

    def delete_group(self, cluster: str, group: str, topic: str | None) -> None:
        """Forget a group, or one topic of it, and publish a board without it before returning."""

    def get_level(self) -> str:
        """The log level, in Burrow's word for it."""

    def set_level(self, level: str) -> None:
        """`level` is one of Burrow's words."""

    def recent_history(
        self, cluster: str, group: str, since_ms: str, until_ms: str, partitions: str
    ) -> str:
        """The same as `group_history`, at once; empty if memory does not reach that far back."""

    def group_history(
        self, cluster: str, group: str, since_ms: str, until_ms: str, partitions: str
    ) -> str:
        """What is kept of a group: JSON of a code and the answer to pass on. Takes its time."""
