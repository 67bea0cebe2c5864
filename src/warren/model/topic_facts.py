"""What brokers are configured to do with records and offsets: when they delete them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import msgspec


class TopicFacts(NamedTuple):
    retention_ms: int | None  # None: records do not get too old
    retention_bytes: int | None  # of a partition; None: any size
    is_compacted: bool
    is_deleted: bool  # old records are deleted; with neither bound they are not

    @property
    def is_deleted_by_time(self) -> bool:
        return self.is_deleted and self.retention_ms is not None

    @property
    def is_deleted_by_size(self) -> bool:
        return self.is_deleted and self.retention_bytes is not None


@dataclass(frozen=True)
class ClusterFacts:
    """Replaced as a whole when something in it changes."""

    topics: Mapping[str, TopicFacts] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)  # why those of other topics lack
    # How long offsets are kept that nobody uses; None: unknown.
    offsets_retention_s: float | None = None
    offsets_problem: str = ""  # why that is unknown

    @cached_property
    def encoded(self) -> bytes:
        """As JSON of `TopicTable`: made once, for all boards until something changes."""
        return msgspec.json.encode({"topics": self.topics, "problems": self.problems})


class TopicTable(msgspec.Struct):
    topics: dict[str, TopicFacts]
    problems: dict[str, str]
