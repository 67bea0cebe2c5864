"""Members, events and windows -> the life of every group, as arrays for the rules.

Only what has changed since the last tick is worked out again: a group whose records came, and a
pair of group and topic that is new.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from warren.model.arrays import Bytes, Floats, Ints
from warren.model.group_events import Protocol, Subscription
from warren.model.group_filter import compile_pattern
from warren.model.group_life import GroupLife, Kind, OtherGroup, Subscribed
from warren.model.kafka_names import readable
from warren.model.window_arrays import WindowArrays
from warren.windows.decaying_rate import per_minute
from warren.windows.group_members import Membership
from warren.windows.group_state import GroupMembers
from warren.windows.pairs import TO_FIND_SUBSCRIBED
from warren.windows.row_blocks import Rows
from warren.windows.subscriptions import Subscriptions
from warren.windows.windows import Windows

KINDS = {
    Protocol.CLASSIC: Kind.CLASSIC,
    Protocol.CONSUMER: Kind.CONSUMER,
    Protocol.SHARE: Kind.SHARE,
    Protocol.STREAMS: Kind.STREAMS,
}
NO_RECORDS = 0  # the row of groups without records
NO_GENERATION = -1
# Anyone may write a subscription: beyond these, what it matches is unknown.
LONGEST_EXPRESSION = 4_096  # characters
MOST_EXPRESSIONS = 100  # of a group
MOST_OTHERS = 10_000  # groups without a verdict that are listed, and topics of each
MOST_TOPICS = 1_000


class Columns(Rows):
    """A row for each group with records."""

    kind: Bytes
    members: Ints
    static: Ints
    generation: Ints
    generations: Floats
    generations_s: Floats
    churn: Floats
    churn_s: Floats
    empty_s: Floats
    began_s: Floats

    def __init__(self) -> None:
        numbers = ("members", "static", "generation")
        moments = ("generations", "generations_s", "churn", "churn_s", "empty_s", "began_s")
        super().__init__(
            {
                "kind": ((), np.uint8),
                **dict.fromkeys(numbers, ((), np.int64)),
                **dict.fromkeys(moments, ((), np.float64)),
            }
        )
        nobody = self.reserve(1)
        self.generation[nobody] = NO_GENERATION

    def set(self, row: int, group: GroupMembers) -> None:
        members = [each for each in group.members.values() if each.seen]
        self.kind[row] = KINDS[group.protocol]
        self.members[row] = len(members)
        self.static[row] = sum(bool(each.instance_id) for each in members)
        self.generation[row] = group.epoch
        self.generations[row] = group.generations.sum
        self.generations_s[row] = group.generations.as_of_s
        self.churn[row] = group.churn.sum
        self.churn_s[row] = group.churn.as_of_s
        self.empty_s[row] = group.empty_s
        self.began_s[row] = group.began_s


class GroupLives:
    """The life of each group of a cluster, kept from tick to tick."""

    def __init__(self) -> None:
        self._membership: Membership | None = None
        self._start_over()

    def _start_over(self) -> None:
        self._columns = Columns()
        self._row: dict[str, int] = {}
        self._free: list[int] = []
        self._groups: Sequence[str] = ()
        self._rows: Ints = np.zeros(0, np.int64)
        self._described: dict[str, OtherGroup] = {}
        self._others: Mapping[str, OtherGroup] = {}

    def read(
        self, windows: Windows, membership: Membership, view: WindowArrays, now_s: float
    ) -> GroupLife:
        """The lives of the groups in `view`, which is of these windows."""
        if membership is not self._membership:  # a snapshot was restored
            self._start_over()
            self._membership = membership
            membership.touched |= membership.groups.keys()
            windows.pairs.subscribed[windows.pairs.in_order()] = TO_FIND_SUBSCRIBED
        touched, membership.touched = membership.touched, set()
        has_moved = self._update(membership, touched)
        is_placed = not has_moved and view.groups == self._groups
        if not is_placed:
            self._place(view.groups)
        if touched or not is_placed:
            self._list_others()
        self._subscribe(windows, membership, touched)
        columns, rows, lines = self._columns, self._rows, view.rows
        rates = (
            per_minute(sums[rows], as_of_s[rows], now_s).astype(np.float32)
            for sums, as_of_s in (
                (columns.generations, columns.generations_s),
                (columns.churn, columns.churn_s),
            )
        )
        generations_per_minute, churn_per_minute = rates
        return GroupLife(
            kind=columns.kind[rows],
            member_count=columns.members[rows],
            static_count=columns.static[rows],
            generation=columns.generation[rows],
            generations_per_minute=generations_per_minute,
            churn_per_minute=churn_per_minute,
            empty_since_s=columns.empty_s[rows],
            rebalanced_s=columns.began_s[rows],
            is_subscribed=np.repeat(windows.pairs.subscribed[view.pair], view.pair_count),
            has_left=np.repeat(windows.pairs.left[view.pair], view.pair_count),
            last_owner=windows.grid.last_owner[lines],
            last_client=windows.grid.last_client[lines],
        )

    def others(self) -> Mapping[str, OtherGroup]:
        """The groups with records that had no window at the last `read`."""
        return self._others

    def _update(self, membership: Membership, touched: set[str]) -> bool:
        """Take in groups that have changed; returns whether one came or went."""
        before = self._row.keys() & touched
        for name in touched:
            group = membership.groups.get(name)
            if group is not None:
                self._columns.set(self._row_of(name), group)
                self._described[name] = _described(group)
            elif name in before:
                self._free.append(self._row.pop(name))
                del self._described[name]
        return before != self._row.keys() & touched

    def _row_of(self, name: str) -> int:
        row = self._row.get(name)
        if row is None:
            row = self._row[name] = self._free.pop() if self._free else self._columns.reserve(1)
        return row

    def _place(self, groups: tuple[str, ...]) -> None:
        """Find the row of each group."""
        of, self._groups = self._row, groups
        rows = (of.get(name, NO_RECORDS) for name in groups)
        self._rows = np.fromiter(rows, np.int64, len(groups))

    def _list_others(self) -> None:
        without = islice(self._described.keys() - set(self._groups), MOST_OTHERS)
        self._others = {readable(name): self._described[name] for name in sorted(without)}

    @staticmethod
    def _subscribe(windows: Windows, membership: Membership, touched: set[str]) -> None:
        pairs = windows.pairs
        for group in touched:
            pairs.subscribed[pairs.of(group)] = TO_FIND_SUBSCRIBED
        reads: dict[int, Reads] = {}
        for pair in np.flatnonzero(pairs.subscribed == TO_FIND_SUBSCRIBED).tolist():
            number = int(pairs.group[pair])
            if number not in reads:
                reads[number] = Reads.of(membership, pairs.groups[number])
            topic = pairs.topics[int(pairs.topic[pair])]
            pairs.subscribed[pair] = answer = reads[number].answer(topic)
            pairs.left[pair] = reads[number].have_left(topic, answer)


class Reads(NamedTuple):
    """What the members of a group subscribe to, all together, and what they did before."""

    topics: frozenset[str] = frozenset()
    expressions: tuple[Any, ...] = ()  # compiled
    otherwise: Subscribed = Subscribed.UNKNOWN  # if nothing matches
    history: Subscriptions = Subscriptions()
    is_empty: bool = False

    @classmethod
    def of(cls, membership: Membership, name: str) -> "Reads":
        group = membership.groups.get(name)
        if group is None or not group.members:
            return cls(history=group.subscriptions, is_empty=True) if group else cls()
        assigned = membership.topics_of(name)
        subscriptions = _subscriptions(group)
        known = [each for each in subscriptions if each is not None]
        texts = {text for each in known for text in each.expressions}
        resolved = (topics for text, topics in group.resolved.items() if text in texts)
        topics = assigned.union(*(each.topics for each in known), *resolved)
        compiled = [_compiled(text) for text in sorted(texts)[:MOST_EXPRESSIONS]]
        matching = tuple(each for each in compiled if each is not None)
        is_complete = len(known) == len(subscriptions) and len(matching) == len(texts)
        otherwise = Subscribed.NO if is_complete else Subscribed.UNKNOWN
        return cls(topics, matching, otherwise, group.subscriptions)

    def answer(self, topic: str) -> Subscribed:
        if topic in self.topics:
            return Subscribed.YES
        name = readable(topic)
        is_matched = any(each.fullmatch(name) for each in self.expressions)
        return Subscribed.YES if is_matched else self.otherwise

    def have_left(self, topic: str, answer: Subscribed) -> bool:
        """Whether they have decided against a topic; a group without members had left it before."""
        is_empty = self.is_empty and bool(self.history.past)
        if answer is not Subscribed.NO and not is_empty:
            return False
        return self.history.left(lambda each: _covers(each, topic))


def _covers(subscription: Subscription, topic: str) -> bool:
    """An expression that cannot be compiled may match anything."""
    if topic in subscription.topics:
        return True
    name = readable(topic)
    compiled = map(_compiled, subscription.expressions[:MOST_EXPRESSIONS])
    return any(each is None or bool(each.fullmatch(name)) for each in compiled)


def _subscriptions(group: GroupMembers) -> list[Subscription | None]:
    """What each member subscribes to; a streams group's members all read its topology."""
    if group.protocol is Protocol.STREAMS:
        return [group.topology]
    return [each.subscription if each.seen else None for each in group.members.values()]


@lru_cache(maxsize=1_000)
def _compiled(text: str) -> Any | None:
    """Compile as the broker does; None: it cannot be, or it is too long."""
    try:
        return compile_pattern(text) if len(text) <= LONGEST_EXPRESSION else None
    except ValueError:
        return None


def _described(group: GroupMembers) -> OtherGroup:
    members = [each for each in group.members.values() if each.seen]
    known = [each for each in _subscriptions(group) if each is not None]
    topics = {readable(topic) for each in known for topic in each.topics}
    return OtherGroup(
        kind=str(group.protocol),
        members=len(members),
        static_members=sum(bool(each.instance_id) for each in members),
        generation=group.epoch,
        empty_since_s=group.empty_s or None,
        topics=tuple(sorted(topics)[:MOST_TOPICS]),
    )
