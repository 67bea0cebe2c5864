"""What people receive: one group that became bad or good again, or a digest of many.

`incidents` decides when, a `Sender` knows how: a `Message` becomes a request, a mail or an alert.
"""

import json
from typing import Literal, NamedTuple, Protocol

import msgspec

from warren.model.figures import LineFigures
from warren.model.status import Status


class Subject(NamedTuple):
    """What an incident is about: a group's verdict, or its lag by one module's rule."""

    cluster: str
    group: str
    module: str = ""  # whose lag rule; empty: the verdict, which is the same for all modules
    topic: str = ""  # of a lag rule by topic

    @property
    def key(self) -> str:
        # ASCII, as names may be invalid UTF-8.
        return json.dumps(self)

    @classmethod
    def of(cls, key: str) -> "Subject":
        return cls(*json.loads(key))


Event = Literal["open", "close"]


class Measures(msgspec.Struct, frozen=True):
    """The numbers of `model.numbers`; None: not known, infinite seconds: never."""

    lag: int | None = None
    lag_low: int | None = None
    lag_high: int | None = None
    age_s: float | None = None
    age_low_s: float | None = None
    age_high_s: float | None = None
    age_method: str | None = None  # of `Method`, in lower case
    drain_low_s: float | None = None
    drain_high_s: float | None = None
    margin_s: float | None = None
    lost: int | None = None
    scalable_lag: int | None = None  # this and the next: of groups
    offsets_expire_s: float | None = None


NOT_KNOWN = Measures()


class Opinion(msgspec.Struct, frozen=True):
    """What Warren's evaluator says, if that is the one that decides; see `model.judgement`."""

    word: str = ""
    why: str = ""  # the evidence, a sentence
    ends: str = ""  # what would end it, a sentence
    since_ms: int = 0
    second: str = ""  # what Burrow's rules would say, if that is something else
    opens: bool = False  # that opens an incident, as far as its policy goes
    figures: LineFigures | None = None  # the numbers that decided


NO_OPINION = Opinion()


class Members(msgspec.Struct, frozen=True):
    """What the records about a group tell; see `model.group_life`."""

    count: int = 0  # also where nothing is known of them
    empty_since_ms: int = 0  # 0: it has members, or nothing is known of them
    generations_per_minute: float = 0.0
    churn_per_minute: float = 0.0


NOBODY_KNOWN = Members()


class Offset(msgspec.Struct, frozen=True):
    """The first or the last commit of a partition's window."""

    offset: int
    timestamp: int  # ms, from the commit
    observed_at: int  # ms, when Warren read it
    lag: int | None  # at that commit; None: unknown


class PartitionResult(msgspec.Struct, frozen=True):
    topic: str
    partition: int
    owner: str
    client_id: str
    status: Status
    start: Offset | None  # None: no commit yet
    end: Offset | None
    current_lag: int
    complete: float  # the shortest decimal of a float32, so that it prints as in the API
    numbers: Measures = NOT_KNOWN
    opinion: Opinion = NO_OPINION
    last_owner: str = ""  # who reads it, or read it last
    last_client: str = ""


class GroupResult(msgspec.Struct, frozen=True):
    """A group as `/status` shows it, with only its bad partitions."""

    cluster: str
    group: str
    status: Status  # of a group that is gone: NOTFOUND
    complete: float
    partitions: tuple[PartitionResult, ...]
    total_partitions: int
    maxlag: PartitionResult | None  # good or bad, the one with the greatest lag
    total_lag: int
    numbers: Measures = NOT_KNOWN
    word: str = ""  # the worst that opens an incident, if Warren's evaluator decides
    members: Members = NOBODY_KNOWN


class DigestLine(msgspec.Struct, frozen=True):
    """A group in a digest."""

    cluster: str
    group: str
    status: Status
    total_lag: int
    id: str
    start_ms: int
    reason: str = ""
    numbers: Measures = NOT_KNOWN
    word: str = ""
    owner: str = ""


class Message(msgspec.Struct, frozen=True):
    """About one group, or a digest: then `cluster` and `group` are empty, `result` is a sum."""

    event: Event  # of every line of a digest too
    cluster: str
    group: str
    id: str  # of the incident: the same in every message about it; may be empty
    start_ms: int  # of the incident; 0 with an empty id (`threshold = 1` reports good groups)
    now_ms: int  # when it was decided; of a close: when the incident ended
    result: GroupResult
    reason: str = ""  # of a lag alert: "lag is 1200, above 1000"; empty for verdicts
    digest: tuple[DigestLine, ...] = ()
    owner: str = ""  # who is responsible, as a policy says


class Sender(Protocol):
    """Sends a notifier's messages. One thread calls it."""

    def digests(self, event: Event) -> bool:
        """Whether it can put many groups into one message."""
        ...

    def closes_by_id(self, *, lag: bool) -> bool:
        """Whether a close ends only its own incident, not a later one of the same group.

        If so, it may be sent after the opening of the later one. `lag`: for lag alerts.
        """
        ...

    def send(self, message: Message) -> str:
        """Return the receiver's reply in one line; raise SendFailed if it refused the message."""
        ...

    def close(self) -> None:
        """Close connections; nothing is sent after this."""
        ...
