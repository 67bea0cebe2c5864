"""A pipeline that has a history table: it answers requests for the past as Warren's own does."""

from pathlib import Path

from support.http_side import Actions

from warren.history.service import HistoryService
from warren.model.history_question import HistoryQuestion, ReportQuestion


class Keeping(Actions):
    def __init__(self, directory: Path) -> None:
        super().__init__()
        self.history = HistoryService(str(directory))

    def group_history(self, question: HistoryQuestion) -> str:
        return self.history.from_table(question)

    def history_report(self, question: ReportQuestion) -> str:
        return self.history.report(question)
