"""What is known of the query behind a group, in sentences for people."""

from collections.abc import Iterator

from warren.evaluate.reasons import in_words
from warren.model.query_facts import QueryFacts
from warren.serve.v4.verdict_change import wait

MS = 1000
SOURCES = {
    "checkpoint": ("its checkpoint", " at "),
    "listener": ("the listener in its job", ", application "),
    "report": ("reports over HTTP", ", of "),
}


def about(query: QueryFacts, now_ms: int) -> list[str]:
    """Where the offsets come from, which query it is, its last batch, how it ended."""
    source, of = SOURCES[query.origin]
    place = f"{of}{query.place}" if query.place else ""
    source_line = f"Its offsets come from {source}{place}."
    return [source_line, *_runs(query), *_batch(query, now_ms), *_ends(query, now_ms)]


def _runs(query: QueryFacts) -> Iterator[str]:
    names = [
        *([f"name {query.name}"] if query.name else []),
        *([f"id {query.id}"] if query.id else []),
        *([f"run {query.run_id}"] if query.run_id else []),
    ]
    times = {0: "", 1: "; it was restarted once"}
    restarts = times.get(query.restarts, f"; it was restarted {query.restarts:,} times")
    if names:
        yield f"The query: {', '.join(names)}{restarts}."


def _batch(query: QueryFacts, now_ms: int) -> Iterator[str]:
    numbers = [
        *([f"{query.input_rate:,.0f} records a second arrived"] if query.input_rate else []),
        *([f"it read {query.processed_rate:,.0f} a second"] if query.processed_rate else []),
        *([f"its state has {query.state_rows:,} rows"] if query.state_rows else []),
    ]
    if query.batch is not None and query.triggered_ms is not None:
        took = "" if query.batch_ms is None else f" and took {in_words(query.batch_ms / MS)}"
        yield f"Batch {query.batch:,} began {_ago(query.triggered_ms, now_ms)}{took}" + (
            f"; {', '.join(numbers)}." if numbers else "."
        )


def _ends(query: QueryFacts, now_ms: int) -> Iterator[str]:
    if query.has_failed or query.ended_ms is not None or is_silent(query, now_ms):
        yield f"It {how_gone(query, now_ms)}."
    elif query.error and query.error_ms is not None:
        yield f"Its last error, {_ago(query.error_ms, now_ms)}: {query.error}"


def is_silent(query: QueryFacts, now_ms: int) -> bool:
    """Whether it has stopped to report, without having ended."""
    return query.ended_ms is None and query.gone_ms is not None and query.gone_ms <= now_ms


def how_gone(query: QueryFacts, now_ms: int) -> str:
    if query.has_failed and query.ended_ms is not None:
        return f"failed {_ago(query.ended_ms, now_ms)}: {query.error.rstrip('.')}"
    if query.ended_ms is not None:
        return f"ended {_ago(query.ended_ms, now_ms)}, without an error"
    every = in_words(query.every_s or 0)
    return f"reported last {_ago(query.seen_ms, now_ms)}, and it would every {every} if it ran"


def why_gone(query: QueryFacts, waiting: float, now_ms: int) -> str:
    """Why it is STOP."""
    return f"Its query {how_gone(query, now_ms)}; {wait(waiting)}."


def _ago(moment_ms: int, now_ms: int) -> str:
    return f"{in_words(max(now_ms - moment_ms, 0) / MS)} ago"
