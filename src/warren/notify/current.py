"""What of a board can be judged: nobody is told anything from half-read data."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from warren.board import Board

BEHIND_S = 30.0  # of reading; after an outage lag seems great until the commits are read


class Current(NamedTuple):
    """A cluster that can be judged, all of it or all but the groups of some consumers."""

    cluster: str
    behind: frozenset[str] = frozenset()  # consumers outside Kafka whose commits are not all read
    unread: frozenset[str] = frozenset()  # the groups they tell of


class Currents:
    """Goes from board to board.

    Verdicts are made a moment before the health that stands beside them: what has just been caught
    up with counts from the next board on.
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
            behind = {
                consumer
                for consumer, told in consumers.items()
                if told["cluster"] == name
                and not self._is_settled("consumer", consumer, board, is_current=_is_current(told))
            }
            answers = _answers(cluster) and name in board.clusters
            if not self._is_settled("cluster", name, board, is_current=answers):
                continue
            outside = board.clusters[name].outside
            if behind <= outside.keys():
                unread = frozenset[str]().union(*(outside[each] for each in behind))
                yield Current(name, frozenset(behind), unread)

    def _is_settled(self, kind: str, name: str, board: Board, *, is_current: bool) -> bool:
        if not is_current:
            self._since_ms[kind, name] = None
            return False
        since = self._since_ms.setdefault((kind, name), -1)
        if since is None:
            since = self._since_ms[kind, name] = board.moment_ms
        return board.moment_ms > since


def _answers(cluster: Any) -> bool:
    is_judged = cluster["data_age_s"] is not None and not cluster["restored"]
    return is_judged and not cluster["problem"]


def _is_current(consumer: Any) -> bool:
    if consumer["state"] != "caught up":
        return False
    left_s = consumer.get("seconds_left")
    return not consumer.get("remaining") or (left_s is not None and left_s <= BEHIND_S)
