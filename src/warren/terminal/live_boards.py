"""Answers from the boards of this very process, without HTTP in between."""

from collections.abc import Callable

from warren.config import Config
from warren.errors import GroupUnknown
from warren.model.board import Board
from warren.serve.board_file import writer
from warren.serve.board_file.board_view import View
from warren.serve.board_file.change_log import ChangeLog
from warren.serve.http.channel import Action
from warren.serve.http.settings import startup
from warren.serve.http.site import Site
from warren.serve.metrics.series import series_granularity
from warren.serve.v4 import all_groups, explain, groups
from warren.serve.v4.parameters import AllGroups, OneGroup, Why
from warren.serve.v4.shapes import Explanation, Group, Groups, Overview


class BoardAnswers:
    def __init__(self, config: Config, boards: Callable[[], Board]) -> None:
        self._boards = boards
        self._granularity = series_granularity(config.metrics)
        self._site = Site(startup(config, []).settings, _changes_nothing)
        self._shown: Board | None = None
        self._log = ChangeLog()

    def overview(self) -> Overview:
        return all_groups.columns(self._newest().view)

    def groups(self) -> Groups:
        found = groups.all_groups(self._newest(), AllGroups(limit=2**31))
        assert isinstance(found, Groups)  # noqa: S101  # a stream is had only when asked for
        return found

    def group(self, cluster: str, group: str) -> Group:
        found = groups.one_group(self._newest(), OneGroup(cluster=cluster, group=group))
        if isinstance(found, str):
            raise GroupUnknown(cluster, group)
        return found

    def explain(self, cluster: str, group: str) -> Explanation:
        found = explain.explain(self._newest(), Why(cluster=cluster, group=group, all=True))
        if isinstance(found, str):
            raise GroupUnknown(cluster, group)
        return found

    def _newest(self) -> Site:
        board = self._boards()
        if board is not self._shown:
            file = writer.write(board, self._granularity, {}, self._log)
            commits = [cluster.windows.file.fd for cluster in board.clusters.values()]
            self._site.view = View.open([file.fd, *commits], self._site.view)
            self._shown = board
        return self._site


async def _changes_nothing(_: Action) -> None:
    """Nobody deletes anything here."""
