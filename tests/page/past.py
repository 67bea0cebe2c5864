"""A pipeline that remembers: the real history of a made-up cluster, in memory or in a table."""

import threading
import time
from pathlib import Path

from page.town import GROUPS, Group, Town
from support.http_side import CONFIG, Actions

from warren.config.sections import HistorySettings
from warren.history.board_rows import row_granularity, rows
from warren.history.service import HistoryService
from warren.model.board import Board
from warren.model.history_question import HistoryQuestion, Progress

HISTORY_CONFIG = CONFIG + "[history]\n"
MEMORY_S, DAY_S = 6 * 3600 + 600, 24 * 3600 + 600
STEPS = 30


class Remembering(Actions):
    """Answers as the pipeline's process does."""

    def __init__(self, directory: Path, reaches_s: float = MEMORY_S) -> None:
        super().__init__()
        self.history = HistoryService(str(directory))
        reach, now_s = self.history.recent.reach, time.time()
        reach(int((now_s - max(reaches_s, DAY_S)) * 1000), partitions=False)
        reach(int((now_s - reaches_s) * 1000), partitions=True)

    def remember(self, board: Board) -> None:
        granularity = row_granularity(HistorySettings())
        self.history.recent.add(rows(board, board.clusters, granularity))

    def recent_history(self, question: HistoryQuestion) -> str:
        return self.history.from_memory(question._replace(is_known=True))

    def group_history(self, question: HistoryQuestion) -> str:
        return self.history.from_table(question._replace(is_known=True))


def lived(actions: Remembering, groups: list[Group] = GROUPS) -> Town:
    """A town that has just lived for three minutes, of which every board is remembered."""
    town = Town(int(time.time()) - 6 * STEPS, groups, steps=4)
    for _ in range(STEPS):
        town.live()
        actions.remember(town.board())
    return town


class Hesitating(Remembering):
    """Says twice that it cannot answer now, then waits to be let go on, and answers."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory, reaches_s=30 * 86_400)
        self.refusals = 2
        self.progress: Progress | None = None
        self.go_on = threading.Event()

    def recent_history(self, _question: HistoryQuestion) -> str:
        return ""

    def history_progress(self, ticket: str) -> Progress | None:
        return self.progress if ticket else None

    def group_history(self, question: HistoryQuestion) -> str:
        if self.refusals:
            self.refusals -= 1
            return '{"code":503,"answer":{"error":true,"message":"others are being answered"}}'
        self.go_on.wait(60)
        return self.history.from_memory(question)
