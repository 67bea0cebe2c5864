"""What is kept of one group: its members, and what they have done."""

from collections.abc import Iterator, Mapping
from itertools import chain
from uuid import UUID

from msgspec import Struct, field

from warren.model.group_events import Partitions, Protocol, Subscription
from warren.windows.decaying_rate import DecayingRate
from warren.windows.subscriptions import Subscriptions

NOT_KNOWN_S = 0.0


class GroupMember(Struct):
    instance_id: str = ""
    client_id: str = ""
    client_host: str = ""
    seen: bool = False  # the three above are known
    by_name: Mapping[str, Partitions] = field(default_factory=dict)  # of a classic group
    by_id: Mapping[UUID, Partitions] = field(default_factory=dict)  # of a KIP-848 group
    subscription: Subscription | None = None  # None: not known

    @property
    def is_idle(self) -> bool:
        """Whether we know that it has no partition assigned."""
        assigned = [*self.by_name.values(), *self.by_id.values()]
        return self.seen and not any(assigned)


class GroupMembers(Struct):
    protocol: Protocol
    epoch: int = 0  # the generation, of a classic group
    members: dict[str, GroupMember] = field(default_factory=dict)
    # By regular expression: the topics that it matched when the broker looked.
    resolved: dict[str, tuple[str, ...]] = field(default_factory=dict)
    topology: Subscription | None = None  # of a streams group
    generations: DecayingRate = field(default_factory=DecayingRate)
    churn: DecayingRate = field(default_factory=DecayingRate)  # members who came or left
    began_s: float = NOT_KNOWN_S  # the generation
    empty_s: float = NOT_KNOWN_S  # since when it has had no members
    first: tuple[int, float] = (0, NOT_KNOWN_S)  # the generation that was read first, and when
    past: int | None = None  # the last of those that a backfill has read
    subscriptions: Subscriptions = field(default_factory=Subscriptions)

    @property
    def held(self) -> Iterator[tuple[str, ...]]:
        """Topics that are kept beside those of its members."""
        return chain(self.resolved.values(), self.subscriptions.ended())

    def has(self, subscription: Subscription | None) -> bool:
        return any(each.subscription == subscription for each in self.members.values())

    def note_generation(self, epoch: int, at_s: float, *, is_new: bool) -> None:
        """Take in a generation; one that we had not seen before counts, but not a group's first."""
        if is_new:
            self.first = epoch, at_s
        if is_new or epoch != self.epoch:
            self.generations.add(int(not is_new), at_s)
            self.began_s = at_s
        self.epoch = epoch

    def note_past(self, epoch: int, at_s: float) -> None:
        """Take in an older generation. What was read first was not the group's first after all."""
        first, first_s = self.first
        if self.past is None:
            self.generations.add(int(epoch != first), first_s)
        elif epoch not in (self.past, first):
            self.generations.add(1, at_s)
        self.past = epoch

    def note_members(self, before: int, at_s: float) -> None:
        if self.members:
            self.empty_s = NOT_KNOWN_S
        elif before or not self.empty_s:
            self.empty_s = at_s
