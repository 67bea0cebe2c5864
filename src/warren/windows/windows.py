"""The windows of one cluster: the last commits, and their lag behind the brokers' log ends.

Everything is kept by partition, in rows of arrays: its window, the time of its last commit, its
owner. Groups and topics are only their rows, so the result does not depend on the batches.
"""

from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa

from warren.model import bounds
from warren.model.arrays import Ints, Mask
from warren.windows.commit_columns import Folded, Records, after_tombstones
from warren.windows.end_history import LogEnds
from warren.windows.fold import Commits, Rounds, fold
from warren.windows.forgotten import Forgotten
from warren.windows.grid import Grid
from warren.windows.limits import NO_LIMITS, NO_ROOM, Limits, fit_topics
from warren.windows.owners import Assignment, Owners
from warren.windows.paces import Paces
from warren.windows.pairs import Moments, Pairs, expire_groups
from warren.windows.pending import Waiting

PIECE = 500_000  # records folded at once


class Windows:
    """The last `intervals` commits of every partition of every group of one cluster."""

    def __init__(
        self,
        intervals: int = 10,
        min_distance_s: int = 0,
        expire_group_s: int = 604_800,
        limits: Limits = NO_LIMITS,
    ) -> None:
        self.intervals = intervals
        self.expire_group_s = expire_group_s
        self.min_distance_ms = min_distance_s * 1000
        self.dropped: Counter[str] = Counter()  # commits, by reason, since the start
        self.grid = Grid(intervals)
        self.limits = limits
        self.left_out: frozenset[str] = frozenset()  # topics for which there is no room
        self.ends = LogEnds(intervals)
        self.pairs = Pairs(self.grid, self.ends.topics, limits)
        self.owners = Owners(self.pairs, self.ends, limits)
        self.paces = Paces(self.grid, self.pairs, self.ends)
        self.forgotten = Forgotten()
        self.waiting = Waiting(intervals, self.min_distance_ms, limits.partitions)

    def fold(
        self,
        commits: pa.Table,
        now_s: int,
        *,
        past: bool = False,
        expire_as_of_s: float | None = None,
    ) -> Folded:
        """Take in a batch of commits and tombstones; those of one log partition are in log order.

        A batch from the `past` may be older than the windows: its tombstones clear only commits
        that are older than they are. Commits that had expired at `expire_as_of_s`, now if it is
        not given, are left out.
        """
        oldest_ms = self._oldest_ms(now_s if expire_as_of_s is None else expire_as_of_s)
        # In pieces, so that the data of each fits into the processor's cache.
        pieces = range(0, max(commits.num_rows, 1), PIECE)
        folded = [
            self._fold(Records.read(commits.slice(at, PIECE), is_past=past), now_s, oldest_ms)
            for at in pieces
        ]
        return Folded(
            commits=sum(piece.commits for piece in folded),
            tombstones=sum(piece.tombstones for piece in folded),
            waiting=sum(piece.waiting for piece in folded),
            dropped=sum((Counter(piece.dropped) for piece in folded), Counter()),
        )

    def _fold(self, records: Records, now_s: int, oldest_ms: int) -> Folded:
        too_old = ~records.is_tombstone & (records.committed_ms < oldest_ms)
        impossible = records.partition < 0
        left_out = records.is_on(self.left_out) & ~records.is_tombstone
        reasons = {
            "too old": too_old,
            "no such partition": ~too_old & impossible,
            NO_ROOM: ~too_old & ~impossible & left_out,
        }
        dropped = Counter({reason: int(mask.sum()) for reason, mask in reasons.items()})
        self.dropped += dropped
        return self._fold_possible(
            records.where(~(too_old | impossible | left_out)), now_s, +dropped
        )

    def _fold_possible(self, records: Records, now_s: int, dropped: Counter[str]) -> Folded:
        end_row, has_end = self._end_rows(records)
        is_commit = ~records.is_tombstone
        known, waits = is_commit & has_end, is_commit & ~has_end
        self._fold_known(records, end_row, known, now_s)
        if waits.any() or (len(self.waiting) and not is_commit.all()):
            self.dropped[NO_ROOM] += self.waiting.fold(
                records.where(~known), now_s, self.ends.rows.asked_s
            )
        return Folded(
            commits=int(known.sum()),
            tombstones=len(records) - int(is_commit.sum()),
            waiting=int(waits.sum()),
            dropped=dropped,
        )

    def _end_rows(self, records: Records) -> tuple[Ints, Mask]:
        """For each record, the row of its log end, and whether there is one."""
        base, count = self.ends.where(records.topics)
        row = base[records.topic] + records.partition
        has_end = records.partition < count[records.topic]
        has_end[has_end] = self.ends.rows.filled[row[has_end]] > 0
        return row, has_end

    def _fold_known(self, records: Records, end_row: Ints, known: Mask, now_s: int) -> None:
        """Fold the commits whose log end is known, and clear windows by tombstones."""
        pair, distinct = records.pairs()
        is_committed = np.zeros(len(distinct), np.bool_)
        is_committed[pair[known]] = True
        numbers = self._pair_numbers(records, distinct, np.flatnonzero(is_committed))
        row = self._rows(numbers[pair], records.partition)
        is_tombstone = records.is_tombstone & (row >= 0)
        kept, cleared, last = after_tombstones(row, is_tombstone)
        if records.is_past:
            self.grid.clear_before(cleared, records.order[last])
        else:
            self._note_heights(records, cleared, last)
            self.grid.clear_windows(cleared)
        kept &= known
        self.dropped[NO_ROOM] += int((kept & (row < 0)).sum())
        kept &= row >= 0
        if not kept.all():
            row, end_row, records = row[kept], end_row[kept], records.where(kept)
        end, _ = self.ends.rows.as_of(end_row, records.written_ms / 1000)
        lag = bounds.lag(end, records.offset)
        now = np.broadcast_to(np.int64(now_s), len(row))
        commits = Commits(row, records.offset, records.order, records.committed_ms, lag, now)
        rounds = Rounds(self.ends.rows.asked_s, records.written_ms / 1000)
        fold(self.grid, commits, self.min_distance_ms, rounds)
        if len(self.forgotten):
            self._recall_heights(records, row)
        self.pairs.remove_unused(set(numbers[pair[is_tombstone]].tolist()))

    def _note_heights(self, records: Records, rows: Ints, at: Ints) -> None:
        """The offsets of these rows are forgotten, by the tombstones at these places."""
        heights = self.grid.memory.high[rows]
        self.forgotten.note(records.keys(at[heights > 0]), heights[heights > 0])

    def _recall_heights(self, records: Records, rows: Ints) -> None:
        """Who commits for the first time may have been somewhere before."""
        groups, memory = self.forgotten.groups, self.grid.memory
        known = np.array([group in groups for group in records.groups], np.bool_)
        at = np.flatnonzero(known[records.group] & (memory.known_ms[rows] == 0))
        for row, key in zip(rows[at].tolist(), records.keys(at), strict=True):
            memory.high[row] = max(int(memory.high[row]), self.forgotten.take(key))

    def _pair_numbers(
        self, records: Records, distinct: list[tuple[int, int]], committed: Ints
    ) -> Ints:
        """The number of each distinct pair; a new one for a commit, else -1 if unknown."""
        topics = [self.ends.topics.find(topic) for topic in records.topics]
        numbers = np.full(len(distinct), -1, np.int64)
        for at in committed.tolist():
            group, topic = distinct[at]
            partitions = int(self.ends.blocks.count[topics[topic]])
            numbers[at] = self.pairs.ensure(records.groups[group], topics[topic], partitions)
        for at in np.flatnonzero(numbers < 0).tolist():
            group, topic = distinct[at]
            numbers[at] = self.pairs.find(records.groups[group], topics[topic])
        return numbers

    def _rows(self, pair: Ints, partition: Ints) -> Ints:
        """The row of each partition of a pair; -1 if the pair has no such partition."""
        blocks = self.pairs.blocks
        if not len(blocks.base):
            return np.full(len(pair), -1, np.int64)
        inside = (pair >= 0) & (partition < blocks.count[pair])
        return np.where(inside, blocks.base[pair] + partition, -1)

    def set_log_ends(
        self,
        ends: pa.Table,
        partition_counts: Mapping[str, int],
        *,
        complete_as_of_s: int | None = None,
        now_s: float = 0,
        asked_s: float | None = None,
    ) -> None:
        """Take in one refresh of LOG_ENDS, and release the commits that waited for it.

        `now_s` is when the ends arrived: the growth rate is computed with it, and a commit's lag
        uses the ends that had arrived before it was written. `asked_s` is when they were asked for.
        `complete_as_of_s` says that `partition_counts` has every topic, as listed at that moment:
        commits that have waited since before then for any other are dropped.
        """
        ends, counts = fit_topics(ends, partition_counts, self.ends.topics, self.limits.topics)
        self._leave_out(frozenset(partition_counts.keys() - counts.keys()))
        self.ends.refresh(ends, counts, now_s, asked_s)
        self.dropped[NO_ROOM] += self.waiting.release(self.grid, self.ends, self.owners.row)
        self.owners.place_unplaced()
        self.paces.note(now_s)
        if complete_as_of_s is not None:
            self.dropped += self.waiting.drop_nonexistent(partition_counts, complete_as_of_s)

    def _leave_out(self, topics: frozenset[str]) -> None:
        """Count each topic for which there is no room once, and drop commits that wait for it."""
        self.dropped[NO_ROOM] += len(topics - self.left_out)
        self.left_out = topics
        if topics:
            self.dropped += self.waiting.drop(lambda key, _: NO_ROOM if key[1] in topics else None)

    def set_owners(self, group: str, assignment: Assignment) -> None:
        """Set the owners of a group's partitions; replaces all that were set before."""
        self.owners.set(group, assignment)

    def clear_owners(self, group: str) -> None:
        self.owners.clear(group)

    def delete_group(self, group: str, topic: str | None = None) -> None:
        """Forget a group, or one topic of it; without its last topic the group is gone too."""
        if topic is None:
            self.pairs.remove(self.pairs.of(group))
        else:
            pair = self.pairs.find(group, self.ends.topics.find(topic))
            self.pairs.remove(np.array([pair] if pair >= 0 else [], np.int64))
        self.owners.forget(group, topic)
        self.forgotten.drop_group(group)
        self.waiting.forget_group(group, topic)

    def delete_topic(self, topic: str) -> None:
        """Forget a topic; commits that wait for it stay: they may be on a new topic of its name.

        Owners stay too: members go on to read the new topic, and no record repeats the assignment.
        """
        self.forgotten.drop_topic(topic)
        number = self.ends.topics.find(topic)
        if number >= 0:
            self.owners.unplace(self.pairs.of_topic(number))
            self.pairs.remove(self.pairs.of_topic(number))
            self.ends.delete(topic)

    def expire(self, now_s: int, read_until_s: Moments | None = None) -> list[str]:
        """Drop groups whose last commit is older than `expire_group_s`; returns their names.

        Their silence counts up to where they have been read: what has not been read is no silence.
        """
        oldest_ms = self._oldest_ms(now_s)

        def is_old(group: Callable[[int], str], last_ms: Ints) -> Mask:
            old: Mask = last_ms < oldest_ms
            if read_until_s is not None and old.any():
                some = np.flatnonzero(old)
                moments_s = read_until_s([group(at) for at in some.tolist()])
                old[some] = moments_s - last_ms[some] / 1000 > self.expire_group_s
            return old

        self.dropped += self.waiting.drop_expired(is_old)
        return expire_groups(self.pairs, is_old)

    def _oldest_ms(self, as_of_s: float) -> int:
        return int((as_of_s - self.expire_group_s) * 1000)

    def held(self) -> dict[str, int]:
        """How many groups, topics and partitions there are, to compare with the limits."""
        return {
            "groups": len(self.pairs.groups),
            "topics": len(self.ends.topics),
            "partitions": self.pairs.blocks.used,
        }

    def nbytes(self) -> int:
        """Memory of the arrays, without the names."""
        return (
            self.grid.nbytes
            + self.ends.rows.nbytes
            + self.ends.rows.past.nbytes
            + self.waiting.grid.nbytes
        )
