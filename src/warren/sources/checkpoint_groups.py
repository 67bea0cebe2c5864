"""Which group each checkpoint is, and what its new batches change: commits and removals."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

from warren.model.query_facts import PATIENCE_MS, PAUSES, QueryFacts
from warren.sources.checkpoint_batches import Checkpoint, CommittedBatch
from warren.sources.checkpoint_log import Place
from warren.sources.outside_changes import OutsideChanges, OutsideCommit, OutsideKey, order_at

LONGEST_MS = 86_400_000  # that a group waits for a checkpoint while another of its name commits


class CheckpointGroups:
    """The groups so far. The template names a checkpoint's group: {name}, {parent}, {id}.

    Of several checkpoints with one name the first one keeps the group as long as it goes on.
    """

    def __init__(
        self,
        template: str,
        accepts: Callable[[str], bool],
        before: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`before` has the checkpoints that groups had in the last run."""
        self._template = template
        self._accepts = accepts
        self._before = before
        self._shown: dict[str, str] = {}  # by group, the path of its checkpoint
        self._offsets: dict[str, dict[Place, int]] = {}  # by group, as handed on

    @property
    def groups(self) -> set[str]:
        return {*self._shown}

    @property
    def places(self) -> dict[str, set[Place]]:
        """The partitions of each group."""
        return {group: {*offsets} for group, offsets in self._offsets.items()}

    def shown_by(self, group: str) -> str:
        """The path of the checkpoint that is this group; empty: none is."""
        return self._shown.get(group, "")

    def group_of(self, checkpoint: Checkpoint) -> str:
        """Empty: the template needs the query's id, and the checkpoint has none."""
        rest, _, name = checkpoint.path.rpartition("/")
        if not checkpoint.query_id and "{id}" in self._template:
            return ""
        parent = rest.rpartition("/")[2]
        return self._template.format(name=name, parent=parent, id=checkpoint.query_id)

    def take(self, checkpoints: Iterable[Checkpoint], now_ms: int) -> OutsideChanges:
        """What changed since the last call."""
        commits, queries = list[OutsideCommit](), dict[str, QueryFacts]()
        chosen = self._choose(checkpoints)
        for group in self._shown.keys() - chosen.keys():
            commits += _removals(group, self._offsets.pop(group))
            del self._shown[group]
        for group, checkpoint in chosen.items():
            newest, before = checkpoint.newest, self._offsets.get(group, {})
            is_new = self._shown.get(group) != checkpoint.path
            if newest is None or not (is_new or checkpoint.fresh):
                continue
            commits += _removals(group, before.keys() - newest.offsets.keys())
            for batch in checkpoint.fresh or [newest]:
                commits += _commits(group, batch, now_ms)
            self._shown[group], self._offsets[group] = checkpoint.path, newest.offsets
            queries[group] = _facts(checkpoint, newest, now_ms)
        return OutsideChanges(commits, {}, Counter(), queries)

    def _choose(self, checkpoints: Iterable[Checkpoint]) -> dict[str, Checkpoint]:
        """The checkpoint of each group."""
        found: dict[str, dict[str, Checkpoint]] = {}
        for checkpoint in checkpoints:
            group = self.group_of(checkpoint)
            if checkpoint.newest and checkpoint.reads_kafka and group and self._accepts(group):
                found.setdefault(group, {})[checkpoint.path] = checkpoint
        return {group: self._keeper(group, several) for group, several in found.items()}

    def _keeper(self, group: str, several: Mapping[str, Checkpoint]) -> Checkpoint:
        """The one that has the group, until it is silent for clearly longer than it ever was."""
        last = max(several.values(), key=_last_commit)
        held = several.get(self._shown.get(group, "") or self._before.get(group, ""), last)
        longest_ms = max(PATIENCE_MS, int(PAUSES * held.longest_pause_ms))
        silent_ms = _last_commit(last)[0] - _last_commit(held)[0]
        return last if silent_ms > min(longest_ms, LONGEST_MS) else held


def _last_commit(checkpoint: Checkpoint) -> tuple[int, str]:
    return checkpoint.newest.committed_ms if checkpoint.newest else 0, checkpoint.path


def _commits(group: str, batch: CommittedBatch, now_ms: int) -> Iterator[OutsideCommit]:
    """A batch commits all its partitions. The order is the same whenever it is read again."""
    committed_ms = max(min(batch.committed_ms, now_ms), 0)
    order = order_at(committed_ms, batch.number)
    for (topic, partition), offset in batch.offsets.items():
        yield OutsideCommit(OutsideKey(group, topic, partition), offset, committed_ms, order)


def _removals(group: str, places: Iterable[Place]) -> Iterator[OutsideCommit]:
    for topic, partition in sorted(places):
        yield OutsideCommit(OutsideKey(group, topic, partition), None, 0, 0)


def _facts(checkpoint: Checkpoint, batch: CommittedBatch, now_ms: int) -> QueryFacts:
    began_ms, ended_ms = batch.triggered_ms, min(batch.committed_ms, now_ms)
    took_ms = None if began_ms is None or began_ms > ended_ms else ended_ms - began_ms
    return QueryFacts(
        origin="checkpoint",
        place=checkpoint.path,
        id=checkpoint.query_id,
        seen_ms=ended_ms,
        batch=batch.number,
        triggered_ms=began_ms,
        batch_ms=took_ms,
    )
