"""What people are sent: one group that became bad or good again, or a digest of many."""

import json
from typing import Literal, NamedTuple, Protocol

import msgspec

from warren.model.status import Status


class Subject(NamedTuple):
    """A group, by its verdict; or its lag, or that of one of its topics, as a module asked for."""

    cluster: str
    group: str
    module: str = ""  # empty: the verdict, which is the same for all modules
    topic: str = ""

    @property
    def key(self) -> str:
        # ASCII, whatever the names hold: they may be no UTF-8.
        return json.dumps(self)

    @classmethod
    def of(cls, key: str) -> "Subject":
        return cls(*json.loads(key))


Event = Literal["open", "close"]


class Offset(msgspec.Struct, frozen=True):
    """The first or the last commit of a partition's window."""

    offset: int
    timestamp: int  # ms, from the commit
    observed_at: int  # ms, when it was read
    lag: int | None  # at that commit, when it is known


class PartitionResult(msgspec.Struct, frozen=True):
    topic: str
    partition: int
    owner: str
    client_id: str
    status: Status
    start: Offset | None  # None: never committed to
    end: Offset | None
    current_lag: int
    complete: float  # the shortest number that is the same as a float32, so it prints as in the API


class GroupResult(msgspec.Struct, frozen=True):
    """A group as `/status` shows it: of its partitions only those above OK."""

    cluster: str
    group: str
    status: Status  # of a group that is gone: NOTFOUND
    complete: float
    partitions: tuple[PartitionResult, ...]
    total_partitions: int
    maxlag: PartitionResult | None  # good or bad, the one with the greatest lag
    total_lag: int


class DigestLine(msgspec.Struct, frozen=True):
    """A group in a digest."""

    cluster: str
    group: str
    status: Status
    total_lag: int
    id: str
    start_ms: int
    reason: str = ""


class Message(msgspec.Struct, frozen=True):
    """One group's, or a digest's: then `cluster` and `group` are empty and `result` is the sum."""

    event: Event  # of every line of a digest too
    cluster: str
    group: str
    id: str  # of the incident: the same from the first message to the close; may be empty
    start_ms: int  # of the incident; 0 with an empty id (threshold 1 tells of good groups)
    now_ms: int  # when it was decided: at a close, the end of the incident
    result: GroupResult
    reason: str = ""  # of a lag alert, why: "lag of 1200 is above 1000"; of verdicts empty
    digest: tuple[DigestLine, ...] = ()


class Sender(Protocol):
    """A notifier's way to its receiver. One thread calls it."""

    def digests(self, event: Event) -> bool:
        """Whether it can tell of many groups in one message."""
        ...

    def closes_by_id(self, *, lag: bool) -> bool:
        """Whether a close ends its own incident only, and not a later one of the same group.

        Such a close may be sent after that one's opening. `lag`: an incident of a lag alert.
        """
        ...

    def send(self, message: Message) -> str:
        """Return the receiver's answer, in a line; raise SendFailed if it did not take it."""
        ...

    def close(self) -> None:
        """Let go of connections; nothing is sent any more."""
        ...
