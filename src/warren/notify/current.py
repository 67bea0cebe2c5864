"""What of a board can be judged: nobody is told anything from half-read data."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from warren.board import Board
from warren.evaluate.verdicts import Verdicts

BEHIND_S = 30.0  # of reading; after an outage lag seems great until the commits are read


class Current(NamedTuple):
    """A cluster that can be judged, all of it or all but the groups of some consumers."""

    cluster: str
    behind: frozenset[str] = frozenset()  # consumers outside Kafka whose commits are not all read
    unread: frozenset[str] = frozenset()  # the groups they tell of, and others to be read yet


class Currents:
    """Goes from board to board.

    Verdicts are made a moment before the health that stands beside them: what has just been caught
    up with counts from the next board on, and a group once its commits of after that moment have
    been read.
    """

    def __init__(self) -> None:
        # The first board on which something was current again; None: it is not.
        self._since_ms: dict[tuple[str, str], int | None] = {}

    def of(self, board: Board, oldest_ms: int) -> list[Current]:
        """Clusters whose brokers answer and whose commits have been read, if the board is new."""
        return [] if board.moment_ms < oldest_ms else [*self._of(board)]

    def _of(self, board: Board) -> Iterator[Current]:
        health: Any = board.health
        consumers = health.get("consumers", {})
        for name, cluster in health.get("clusters", {}).items():
            own = {each: told for each, told in consumers.items() if told["cluster"] == name}
            behind = {
                consumer
                for consumer, told in own.items()
                if not self._is_settled("consumer", consumer, board, is_current=_is_current(told))
            }
            answers = _answers(cluster) and name in board.clusters
            if not self._is_settled("cluster", name, board, is_current=answers):
                continue
            outside = board.clusters[name].outside
            if behind <= outside.keys():
                settled = [("cluster", name), *(("consumer", each) for each in own.keys() - behind)]
                since_ms = max(self._since_ms[each] or 0 for each in settled)
                unread = _read_until(board.clusters[name].verdicts, since_ms)
                yield Current(
                    name, frozenset(behind), unread.union(*(outside[each] for each in behind))
                )

    def _is_settled(self, kind: str, name: str, board: Board, *, is_current: bool) -> bool:
        if not is_current:
            self._since_ms[kind, name] = None
            return False
        since = self._since_ms.setdefault((kind, name), -1)
        if since is None or since > board.moment_ms:  # the clock may be set back
            since = self._since_ms[kind, name] = board.moment_ms
        return board.moment_ms > since


def _read_until(verdicts: Verdicts, moment_ms: int) -> frozenset[str]:
    """Groups of which no commit is known to have been read that is newer."""
    lines = np.flatnonzero(verdicts.groups.as_of_ms <= moment_ms)
    return frozenset(verdicts.names[line] for line in lines.tolist())


def _answers(cluster: Any) -> bool:
    is_judged = cluster["data_age_s"] is not None and not cluster["restored"]
    return is_judged and not cluster["problem"]


def _is_current(consumer: Any) -> bool:
    if consumer["state"] != "caught up":
        return False
    left_s = consumer.get("seconds_left")
    return not consumer.get("remaining") or (left_s is not None and left_s <= BEHIND_S)
