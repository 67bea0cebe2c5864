"""`warren backtest`: what would have paged, as a table, JSON and a page."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pyspark.sql import SparkSession
from rich.console import Console

from warren.backtest.outcome import PAGES_SECTION, SIDES_SECTION, Outcome, outcome
from warren.backtest.outcome_page import as_json, as_page, summary_line
from warren.backtest.replay import Replayed, Where, moments_of, replay
from warren.backtest.stance import Stance, configured, proposed
from warren.config import Config
from warren.errors import NoHistory, WarrenError
from warren.history import table
from warren.history.reader import Past
from warren.history.report.columns import instant
from warren.history.table_files import UNREADABLE, TableFiles
from warren.model.arrays import Ints
from warren.model.period import Period
from warren.terminal.ending import signals_as_ctrl_c
from warren.terminal.report_command import as_table, plain_console
from warren.terminal.words import shown

EVERY_S = 30.0  # lines of progress, where there is no terminal
EVER = Period(0, 253_402_300_799_999)


class NothingThen(WarrenError):
    """History has no moment of what is asked for."""


class NoWords(WarrenError):
    def __init__(self, wordless: int) -> None:
        super().__init__(
            f"history of that time holds no words to replay ({wordless:,} rows of an older Warren, "
            "or of topics kept as one row): begin later with --since, or choose --evaluator caching"
        )


class NotWritten(WarrenError):
    def __init__(self, file: Path, reason: str) -> None:
        super().__init__(f"the page cannot be written to {file}: {reason}")


class Wanted(NamedTuple):
    """The options of the command, besides which history."""

    policy: Path | None
    group: str
    evaluator: str  # empty: the configured one
    page: Path | None
    top: int
    is_json: bool


def backtest(past: Callable[[], Past], wanted: Wanted) -> None:
    chosen, page = past(), wanted.page
    base = chosen.config or Config()
    stance, notes = proposed(base, wanted.policy, wanted.evaluator)
    if page is not None:
        _check_page(page)
    where = Where(chosen.directory, chosen.period, chosen.cluster, wanted.group)
    _check_table(chosen.directory)
    with signals_as_ctrl_c():
        found = _replayed(chosen, where, (configured(base), stance))
    made = outcome(found, chosen.period, [*_gaps(found, chosen.period), *notes])
    if page is not None:
        _write(page, as_page(made))
    if wanted.is_json:
        sys.stdout.write(as_json(made) + "\n")
    else:
        _print(made, wanted.top)


def _check_table(directory: str) -> None:
    """Before Spark is started: a wrong directory should not take ten seconds to say so."""
    try:
        TableFiles(directory).holding(EVER)
    except NoHistory:
        raise
    except UNREADABLE:
        return  # Spark may read it


def _replayed(past: Past, where: Where, stances: tuple[Stance, Stance]) -> Replayed:
    failed = f"history cannot be replayed from {where.directory}"
    with _progress() as tell, table.failures(failed), past.session("warren backtest") as started:
        tell("Reading history …")
        return replay_or_say_why(table.session(started), where, stances, tell)


def replay_or_say_why(
    spark: SparkSession,
    where: Where,
    stances: tuple[Stance, Stance],
    tell: Callable[[str], None] = lambda _: None,
) -> Replayed:
    """Raises NothingThen, or NoWords, where there is nothing to replay."""
    moments = moments_of(spark, where)
    if not moments:
        raise NothingThen(_why_nothing(spark, where))
    found = replay(spark, where, moments, stances, lambda text: tell(f"Replaying {text}"))
    if found.wordless and not found.replayed:
        raise NoWords(found.wordless)
    return found


def _why_nothing(spark: SparkSession, where: Where) -> str:
    """Which of the options leaves nothing."""
    period = " until ".join(instant(moment) for moment in where.period)
    without_group = where._replace(group="")
    if where.group and moments_of(spark, without_group):
        return f"history has nothing of group {shown(where.group)} from {period} UTC"
    clusters = moments_of(spark, without_group._replace(cluster="")) if where.cluster else {}
    if clusters:
        names = ", ".join(map(shown, clusters))
        return f"history has nothing of cluster {shown(where.cluster)}; its clusters are: {names}"
    every = moments_of(spark, Where(where.directory, EVER))
    if not every:
        return f"history in {where.directory} is empty"
    return f"history has nothing from {period} UTC; it goes {_reach(every.values())}"


def _reach(moments: Iterable[Ints]) -> str:
    whole = np.concatenate([*moments])
    return f"from {instant(int(whole.min()))} until {instant(int(whole.max()))} UTC"


def _gaps(found: Replayed, period: Period) -> Iterator[str]:
    """History that begins late: what happened before is not known."""
    for cluster, moments in found.moments.items():
        usual_ms = float(np.median(np.diff(moments))) if len(moments) > 1 else 60_000.0
        if moments[0] - period.since_ms > 3 * usual_ms:
            begins = instant(int(moments[0]))
            yield f"history of {shown(cluster)} begins at {begins} UTC, later than was asked for"


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """A spinner on a terminal; elsewhere a line when something has changed, now and then."""
    console = Console(stderr=True)
    if console.is_terminal:
        with console.status("Starting Spark …") as status:
            yield status.update
        return
    yield _Lines().tell


class _Lines:
    def __init__(self) -> None:
        self._told, self._told_s = "", time.monotonic()

    def tell(self, text: str) -> None:
        now_s = time.monotonic()
        if text != self._told and now_s - self._told_s >= EVERY_S:
            sys.stderr.write(f"{text}\n")
            self._told, self._told_s = text, now_s


def _check_page(file: Path) -> None:
    """Better now than after the work."""
    if file.is_dir():
        raise NotWritten(file, "it is a directory")
    if not file.absolute().parent.is_dir():
        raise NotWritten(file, f"there is no directory {file.absolute().parent}")


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise NotWritten(file, error.strerror or str(error)) from error


def _print(made: Outcome, top: int) -> None:
    console = plain_console()
    since, until = (instant(moment) for moment in made.period)
    console.print(f"Back-test from {since} until {until} UTC", highlight=False)
    console.print(summary_line(made), highlight=False)
    for note in made.notes:
        console.print(f"Note: {note}.", highlight=False, markup=False)
    console.print(as_table(SIDES_SECTION, made))
    if not made.pages:
        console.print("Nobody would have been paged, and nobody was.")
        return
    console.print(as_table(PAGES_SECTION, replace(made, pages=made.pages[:top])))
    if len(made.pages) > top:
        console.print(f"and {len(made.pages) - top} more; --top {len(made.pages)} shows all")
