"""Finds commits by comparing polls of the brokers: an offset that changed was committed.

The brokers do not say when, so the commit gets the time of the poll that saw it. An offset that the
first poll finds may be old or new. It is held back until it changes, or for two more polls: else
every group with lag would look stopped until its second commit is seen.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from warren.sources.group_offsets import BrokerAnswer, Offsets
from warren.sources.outside_changes import OutsideChanges, OutsideCommit, OutsideKey, Owners

HELD_POLLS = 2


class PolledOffsets:
    """What the polls have seen so far. `restored` are offsets in the windows of an earlier run."""

    def __init__(self, restored: Mapping[str, Offsets], last_order: int) -> None:
        self._restored = dict(restored)
        self._order = last_order
        self._offsets: dict[str, Offsets] = {}
        self._owners: dict[str, Owners] = {}
        self._held: dict[OutsideKey, OutsideCommit] = {}
        self._now_ms = 0
        self._polls = 0

    @property
    def is_settled(self) -> bool:
        """Whether the offsets of the first poll have been handed on."""
        return self._polls > HELD_POLLS or (self._polls > 0 and not self._held)

    @property
    def groups(self) -> set[str]:
        """Groups that have a commit, or had one in the last run and have not answered since."""
        return {group for group, offsets in self._offsets.items() if offsets} | {*self._restored}

    @property
    def known(self) -> dict[str, Offsets]:
        """The known offsets, from this run or from an earlier one."""
        return self._restored | self._offsets

    def begin(self, now_ms: int) -> None:
        """Begin a poll. Orders only grow, also when the clock goes back."""
        self._now_ms = now_ms
        self._order = max(self._order + 1, now_ms)

    def take(self, answers: Iterable[BrokerAnswer]) -> OutsideChanges:
        """Return what is new in these answers. A group without an answer stays as it was."""
        changes = OutsideChanges([], {}, Counter())
        for answer in answers:
            if not answer.problem:
                self._see_offsets(answer, changes)
                self._see_owners(answer, changes)
        return changes

    def end(self, polled: AbstractSet[str] | None) -> OutsideChanges:
        """End a poll: all groups but these are gone. None: the list was not complete."""
        changes = OutsideChanges([], {}, Counter())
        for group in [] if polled is None else self._offsets.keys() - polled:
            nothing = BrokerAnswer(group, {}, {})
            self._see_offsets(nothing, changes)
            self._see_owners(nothing, changes)
            del self._offsets[group]
        if polled is not None:
            self._restored = {
                group: self._restored[group] for group in self._restored.keys() & polled
            }
            self._polls += 1
        if self._polls > HELD_POLLS:
            changes.commits.extend(self._held.values())
            self._held.clear()
        return changes

    def _see_offsets(self, answer: BrokerAnswer, changes: OutsideChanges) -> None:
        group, offsets = answer.group, answer.offsets
        before = self._offsets.get(group)
        if before is None:
            before = self._restored.pop(group, {})
        for place, offset in offsets.items():
            commit = OutsideCommit(OutsideKey(group, *place), offset, self._now_ms, self._order)
            if place not in before and not self._polls:
                self._held[commit.key] = commit
            elif before.get(place) != offset:
                self._commit(commit, changes)
        for place in before.keys() - offsets.keys():
            key = OutsideKey(group, *place)
            self._held.pop(key, None)
            changes.commits.append(OutsideCommit(key, None, 0, 0))
        self._offsets[group] = offsets

    def _commit(self, commit: OutsideCommit, changes: OutsideChanges) -> None:
        if first := self._held.pop(commit.key, None):
            changes.commits.append(first)
        changes.commits.append(commit)

    def _see_owners(self, answer: BrokerAnswer, changes: OutsideChanges) -> None:
        if self._owners.get(answer.group, {}) == answer.owners:
            return
        changes.owners[answer.group] = answer.owners
        if answer.owners:
            self._owners[answer.group] = answer.owners
        else:
            del self._owners[answer.group]
