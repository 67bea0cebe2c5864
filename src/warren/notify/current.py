"""Which clusters of a board can be judged: nobody is told anything from half-read data."""

from collections.abc import Iterator
from typing import Any

from warren.board import Board

BEHIND_S = 30.0  # of reading; after an outage lag seems great until the commits are read


def current_clusters(board: Board, oldest_ms: int) -> Iterator[str]:
    """Clusters whose brokers answer and whose commits have all been read, if the board is new."""
    health: Any = board.health
    if board.moment_ms < oldest_ms:
        return
    consumers = health.get("consumers", {}).values()
    for name, cluster in health.get("clusters", {}).items():
        is_judged = cluster["data_age_s"] is not None and not cluster["restored"]
        answers = is_judged and not cluster["problem"]
        behind = any(each["cluster"] == name and not _is_current(each) for each in consumers)
        if name in board.clusters and answers and not behind:
            yield name


def _is_current(consumer: Any) -> bool:
    if consumer["state"] != "caught up":
        return False
    left_s = consumer.get("seconds_left")
    return not consumer.get("remaining") or (left_s is not None and left_s <= BEHIND_S)
