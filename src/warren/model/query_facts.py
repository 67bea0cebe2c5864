"""What is known of a program that keeps its offsets itself, such as a Spark query.

Its offsets come from its checkpoint, from the listener in its job, or from reports over HTTP. All
of these fold commits as any other source does, and beside them keep these facts, one for each
group. Whoever judges or shows the group only reads them.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta

from warren.model.arrays import Mask

Origin = Literal["checkpoint", "listener", "report"]

PATIENCE_MS = 120_000  # after an end without an error: a job that runs every minute is not gone
PAUSES = 1.5  # so many times its longest pause between two runs
MOST_CHARACTERS = 500  # of an exception
TRACEBACK = "Traceback (most recent call last):"
MISSED = 4  # so many of its regular reports missing: nobody is there to send them
UNPROMISED_MS = 3_600_000  # what has not promised when to report again counts for so long


class QueryFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The query behind a group, or whatever program keeps its offsets."""

    origin: Annotated[
        Origin,
        Meta(
            description="Where its offsets come from: the query's checkpoint, the listener in its "
            "job, or reports over HTTP."
        ),
    ]
    place: Annotated[
        str, Meta(description="The checkpoint's location, or the name of the job's application.")
    ] = ""
    name: Annotated[str, Meta(description="The query's name; empty: it has none.")] = ""
    id: Annotated[str, Meta(description="The same for all runs from one checkpoint.")] = ""
    run_id: Annotated[str, Meta(description="Another for each start.")] = ""
    seen_ms: Annotated[int, Meta(description="When this was the case.")]
    late_ms: Annotated[int, Meta(description="How much later than that Warren heard of it.")] = 0
    batch: Annotated[int | None, Meta(description="Number of its last batch.")] = None
    triggered_ms: Annotated[int | None, Meta(description="When that batch began.")] = None
    batch_ms: Annotated[int | None, Meta(description="How long it took.")] = None
    input_rate: Annotated[float | None, Meta(description="Records a second that arrived.")] = None
    processed_rate: Annotated[
        float | None, Meta(description="Records a second while it worked.")
    ] = None
    state_rows: Annotated[
        int | None, Meta(description="Rows in the state of its stateful operators.")
    ] = None
    restarts: Annotated[int, Meta(description="How often it was seen to start again.")] = 0
    error: Annotated[
        str, Meta(description="First line of the last exception that ended it; empty: none did.")
    ] = ""
    error_ms: int | None = None
    ended_ms: Annotated[int | None, Meta(description="Null: it has not been seen to end.")] = None
    longest_pause_ms: Annotated[
        int, Meta(description="The longest time between an end without an error and a start.")
    ] = 0
    every_s: Annotated[
        float | None, Meta(description="It promises to report as often as this while it lives.")
    ] = None

    @property
    def has_failed(self) -> bool:
        """Whether an exception ended it."""
        ended_ms, error_ms = self.ended_ms, self.error_ms
        return ended_ms is not None and error_ms is not None and error_ms >= ended_ms

    @property
    def heard_ms(self) -> int:
        """When Warren heard of it, by its own clock: that of the job may be wrong."""
        return self.seen_ms + self.late_ms

    @property
    def gone_ms(self) -> int | None:
        """From when on it counts as gone, so that unread records mean STOP; None: it lives."""
        if self.ended_ms is not None:
            pause_ms = max(PATIENCE_MS, int(PAUSES * self.longest_pause_ms))
            return self.ended_ms if self.has_failed else self.ended_ms + self.late_ms + pause_ms
        if self.every_s is None:
            return None
        return self.heard_ms + max(int(MISSED * self.every_s * 1000), PATIENCE_MS)

    def overrules(self, checkpoint_ms: int) -> bool:
        """Whether this counts, and not what the checkpoint of the same query says of that moment.

        Reports say more, and sooner. Two minutes after they end the checkpoint counts again.
        """
        if self.origin == "checkpoint":
            return False
        gone_ms = self.gone_ms
        if gone_ms is None:
            return checkpoint_ms <= self.heard_ms + UNPROMISED_MS
        return checkpoint_ms <= gone_ms + PATIENCE_MS


def followed_by(before: QueryFacts | None, news: QueryFacts) -> QueryFacts:
    """The facts after `news`; what they do not say stays, and old news change nothing.

    `restarts`, `longest_pause_ms` and the last error are known from all the news together.
    """
    if before is None:
        return news
    if news.origin == "checkpoint" and before.overrules(news.seen_ms):
        return before
    is_new_run = _is_new_run(before, news)
    is_over = news.seen_ms == before.seen_ms and before.ended_ms is not None and not is_new_run
    if news.seen_ms < before.seen_ms or is_over:
        return before if is_new_run else _heard_again(before, news)
    known = news if is_new_run or before.origin != news.origin else _filled(before, news)
    pause_ms = before.longest_pause_ms
    if is_new_run and before.ended_ms is not None and not before.has_failed:
        pause_ms = max(pause_ms, news.seen_ms - before.ended_ms)
    return msgspec.structs.replace(
        known,
        name=news.name or before.name,
        restarts=max(before.restarts + is_new_run, news.restarts),
        longest_pause_ms=max(pause_ms, news.longest_pause_ms),
        error=news.error or before.error,
        error_ms=before.error_ms if news.error_ms is None else news.error_ms,
    )


def _is_new_run(before: QueryFacts, news: QueryFacts) -> bool:
    """A checkpoint does not name the run, but a new id shows that its query began anew."""
    if before.run_id and news.run_id:
        return before.run_id != news.run_id
    return before.origin == news.origin and bool(before.id and news.id and before.id != news.id)


def _heard_again(before: QueryFacts, news: QueryFacts) -> QueryFacts:
    """Whoever sends old news lives all the same."""
    if before.ended_ms is not None:
        return before
    late_ms = max(news.heard_ms - before.seen_ms, before.late_ms)
    return msgspec.structs.replace(before, late_ms=late_ms)


def gone_groups(
    queries: Mapping[str, QueryFacts],
    groups: Sequence[str],
    now_ms: int,
    away_ms: tuple[int, int] | None = None,
) -> Mask | None:
    """By group, whether its query is gone; None: none is.

    While we were `away`, from the one moment to the other, nobody could report: what became gone
    then, or right after, gets time to do so.
    """
    left_ms, back_ms = (away_ms[0], away_ms[1] + PATIENCE_MS) if away_ms else (0, 0)
    gone = {
        name
        for name, at_ms in ((name, each.gone_ms) for name, each in queries.items())
        if at_ms is not None and (back_ms if left_ms < at_ms < back_ms else at_ms) <= now_ms
    }
    return np.array([name in gone for name in groups], np.bool_) if gone else None


def first_line(exception: str) -> str:
    """What an operator reads of an exception: its first line that says something.

    Where Python's traceback begins in it, that is the line after the traceback.
    """
    lines = [line.rstrip() for line in exception.splitlines() if line.strip()]
    found = next(iter(lines), "")
    if found.endswith(TRACEBACK):
        found = next((line for line in lines[1:] if not line[0].isspace()), found)
    return found.strip()[:MOST_CHARACTERS]


def _filled(before: QueryFacts, news: QueryFacts) -> QueryFacts:
    """The news, with the numbers of the last batch where they have none."""
    kept = ("place", "id", "run_id", "every_s")
    batch = ("batch", "triggered_ms", "batch_ms", "input_rate", "processed_rate", "state_rows")
    names = [*kept, *batch] if news.batch is None else kept
    changes = {name: getattr(before, name) for name in names if not getattr(news, name)}
    return msgspec.structs.replace(news, **changes)
