"""Log starts and stable ends, for one request more to each leader than the log ends alone need.

A partition's stable end is where readers of committed data stop: before its oldest open
transaction. A request of that isolation may ask for the start of some partitions and for the stable
end of others. So partitions take turns: each is asked for its start in one of six rounds, and for
its stable end in another; where a transaction was open lately, in every round but those of starts.
Rounds that are far apart have fewer turns, so that a minute or two is enough for all partitions.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

import pyarrow as pa
from confluent_kafka.admin import AdminClient, OffsetSpec

from warren.sources.log_ends import (
    COMMITTED,
    EARLIEST,
    LATEST,
    EndsRequest,
    Partition,
    TopicListing,
    as_table,
    fetch_offsets,
)

TURNS = 6  # rounds, at most
ALL_WITHIN_S = 60.0  # every partition has its turns, where two rounds fit into that
LATELY = 60 * TURNS  # rounds in which a topic counts as one with transactions

Asked = Mapping[Partition, OffsetSpec]  # EARLIEST: its start; LATEST: its stable end


class Edges(NamedTuple):
    """What was read in one round, as LOG_ENDS, and the partitions without an answer, with why.

    A partition that is not among `stable` is held back as its last answer said: not at all, if that
    was the log end.
    """

    starts: pa.Table
    stable: pa.Table
    missing: Mapping[Partition, str]


def fetch_edges(
    admin: AdminClient, leaders: Mapping[Partition, int], asked: Asked, timeout_s: float
) -> Edges:
    """Request from each leader the starts of some partitions, and the stable ends of others."""
    led = {partition: leaders[partition] for partition in asked if partition in leaders}
    found, missing = fetch_offsets(admin, led, EndsRequest(asked, COMMITTED, timeout_s))
    known = {partition: each.offset for partition, each in found.items() if each.offset >= 0}
    starts = {each: offset for each, offset in known.items() if asked[each] is EARLIEST}
    stable = {each: offset for each, offset in known.items() if asked[each] is LATEST}
    return Edges(as_table(starts), as_table(stable), missing)


Identity = tuple[str, UUID | None]  # a topic that is created again is another one


@dataclass
class _Topic:
    place: int  # spreads the turns of topics with few partitions
    first_round: int
    held_round: int | None = None  # the last one in which a transaction was open


@dataclass
class EdgeTurns:
    """Whose turn it is to be asked for its start, and whose for its stable end."""

    _round: int = 0
    _topics: dict[Identity, _Topic] = field(default_factory=dict)
    _again: dict[Partition, OffsetSpec] = field(default_factory=dict)  # was not answered

    def choose(
        self,
        topics: Iterable[str],
        listing: TopicListing,
        silent: AbstractSet[Partition],
        between_s: float = 0,
    ) -> Asked:
        """Whom to ask what, of these topics, in the next round; nothing of silent partitions.

        `between_s` is the usual time from one round to the next.
        """
        self._round += 1
        turns = min(max(int(ALL_WITHIN_S / between_s), 2), TURNS) if between_s else TURNS
        known, self._topics = self._topics, {}
        asked: dict[Partition, OffsetSpec] = {}
        for name in topics:
            identity = name, listing.ids.get(name)
            place = len(self._topics)
            topic = known.get(identity) or _Topic(place, self._round)
            self._topics[identity] = topic
            asked |= self._turns(name, topic, listing.counts.get(name, 0), turns)
        of_topics = {name for name, _ in self._topics}
        again = {each: edge for each, edge in self._again.items() if each[0] in of_topics}
        return {each: edge for each, edge in (asked | again).items() if each not in silent}

    def _turns(
        self, name: str, topic: _Topic, count: int, turns: int
    ) -> dict[Partition, OffsetSpec]:
        """First everybody's start, then everybody's stable end, then a part of both."""
        age = self._round - topic.first_round
        if age < 2:
            return dict.fromkeys(((name, each) for each in range(count)), (EARLIEST, LATEST)[age])
        first = -(topic.place + self._round) % turns
        is_held = topic.held_round is not None and self._round - topic.held_round <= LATELY
        stable = range(count) if is_held else range((first + turns // 2) % turns, count, turns)
        asked = dict.fromkeys(((name, each) for each in stable), LATEST)
        return asked | dict.fromkeys(
            ((name, each) for each in range(first, count, turns)), EARLIEST
        )

    def note(
        self,
        asked: Asked,
        missing: Iterable[Partition],
        held: Iterable[str],
        ids: Mapping[str, UUID],
    ) -> None:
        """Remember who did not answer, and the topics where a transaction is open."""
        self._again = {each: asked[each] for each in missing}
        for name in held:
            if topic := self._topics.get((name, ids.get(name))):
                topic.held_round = self._round
