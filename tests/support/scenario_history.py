"""History of the scenarios' clusters, as Warren would have kept it, and the incidents then."""

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa
from support.scenario_log import BEGIN_S
from support.scenario_run import Heard, Run, Scenario

from warren.config import HistorySettings
from warren.history.board_rows import row_granularity, rows
from warren.model.board import Board
from warren.model.policies import Policy
from warren.model.tables import HISTORY

INTERVAL_S = 60
EVERY_ROW = row_granularity(HistorySettings())


class Incident(NamedTuple):
    group: str
    opened_ms: int


class KeptHistory(NamedTuple):
    rows: pa.Table  # a moment a minute
    incidents: set[Incident]  # until the end of each scenario
    until_ms: dict[str, int]  # by prefix, that end
    policies: tuple[Policy, ...]


class _Keeper(Heard):
    """Keeps moments, and is told of incidents at these only."""

    def __init__(self, run: Run) -> None:
        super().__init__("warren", run.scenarios)
        self.moments: list[pa.Table] = []

    def listen(self, board: Board, moment_s: float) -> None:
        if moment_s % INTERVAL_S == 0:
            self.moments.append(rows(board, ["c"], EVERY_ROW).cast(HISTORY))
            super().listen(board, moment_s)


def history_of(scenarios: Sequence[Scenario]) -> KeptHistory:
    """All of them in one cluster: their brokers have to be read alike."""
    run = Run(scenarios)
    keeper = _Keeper(run)
    run.heard = {"history": keeper}
    run.until_the_end()
    incidents = {
        Incident(prefix + group, in_ms(at_s))
        for prefix, said in keeper.said.items()
        for group, opened in said.opened.items()
        for at_s in opened
    }
    until_ms = {prefix: in_ms(each["until"]) for prefix, each in run.scenarios.items()}
    whole = pa.concat_tables(keeper.moments)
    return KeptHistory(whole, incidents, until_ms, run.cluster.policies.policies)


def in_ms(moment_s: float) -> int:
    return int((BEGIN_S + moment_s) * 1000)
