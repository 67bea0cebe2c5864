"""Log starts and stable ends, for one request more to each leader than the log ends alone need.

A partition's stable end is where readers of committed data stop: before its oldest open
transaction. A request of that isolation may ask for the start of some partitions and for the stable
end of others. So partitions take turns: each is asked for its start in one of six rounds, and for
its stable end in another. Rounds that are far apart have fewer turns, so that a minute or two is
enough for all partitions. In the other rounds those are asked where one of the two matters now:
stable ends where a transaction was open lately, and what is due because of where groups stand.
Where both matter, they are asked for by turns.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
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
Due = tuple[Collection[Partition], Collection[Partition]]  # starts, and stable ends


class Edges(NamedTuple):
    """What was read in one round, as LOG_ENDS, and the partitions without an answer, with why.

    A partition that is not among `stable` is held back as its last answer said: not at all, if that
    was the log end.
    """

    starts: pa.Table
    stable: pa.Table
    missing: Mapping[Partition, str]


Fetch = Callable[[Mapping[Partition, int], Asked], Edges]  # `fetch_edges` of some client


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
        due: Due = ((), ()),
    ) -> Asked:
        """Whom to ask what, of these topics, in the next round; nothing of silent partitions.

        `between_s` is the usual time from one round to the next.
        """
        self._round += 1
        turns = min(max(int(ALL_WITHIN_S / between_s), 2), TURNS) if between_s else TURNS
        known, self._topics = self._topics, {}
        starts, stable = dict.fromkeys(due[0], EARLIEST), dict.fromkeys(due[1], LATEST)
        asked: dict[Partition, OffsetSpec] = {}
        for name in topics:
            identity = name, listing.ids.get(name)
            topic = known.get(identity) or _Topic(len(self._topics), self._round)
            self._topics[identity] = topic
            partitions = [(name, each) for each in range(listing.counts.get(name, 0))]
            asked |= self._turns(partitions, topic, turns)
            if topic.held_round is not None and self._round - topic.held_round <= LATELY:
                stable |= dict.fromkeys(partitions, LATEST)
        of_topics = {name for name, _ in self._topics}
        wanted = starts | stable if self._round % 2 else stable | starts
        wanted = wanted | asked | self._again  # what is owed comes first
        return {
            each: edge
            for each, edge in wanted.items()
            if each not in silent and each[0] in of_topics
        }

    def _turns(
        self, partitions: Sequence[Partition], topic: _Topic, turns: int
    ) -> dict[Partition, OffsetSpec]:
        """First everybody's start, then everybody's stable end, then a part of both."""
        age = self._round - topic.first_round
        if age < 2:
            return dict.fromkeys(partitions, (EARLIEST, LATEST)[age])
        first = -(topic.place + self._round) % turns
        stable = partitions[(first + turns // 2) % turns :: turns]
        return dict.fromkeys(stable, LATEST) | dict.fromkeys(partitions[first::turns], EARLIEST)

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
