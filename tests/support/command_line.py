"""A Warren with groups in every state, and the command line that asks it, in this process."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from click.testing import CliRunner, Result
from support.boards import NOW_S, add, board, cluster_board, log_ends, windows_of
from support.http_side import CONFIG, Running, running

from warren.cli import main

HOSTILE = "evil\x1b[31m\u202etxt.[bold]exe\r\n"
ENDS: dict[str, list[int | None]] = {"orders": [1000, 1000]}
LATER: dict[str, list[int | None]] = {"orders": [1500, 1500]}


def commits(group: str, *offsets: int, partition: int = 0) -> list[tuple[str, str, int, int, int]]:
    """One every ten seconds, the last of them five seconds ago."""
    first = NOW_S - 5 - 10 * (len(offsets) - 1)
    return [
        (group, "orders", partition, offset, (first + 10 * number) * 1000)
        for number, offset in enumerate(offsets)
    ]


@contextmanager
def warren(
    folder: Path, config: str = CONFIG, names: tuple[str, ...] = ("local",)
) -> Iterator[Running]:
    """`good` is OK, `slow` WARN, `stuck` ERR; so is a group with a hostile name."""
    windows = windows_of(ENDS, [*commits("slow", 100, 110)[:1], *commits("stuck", *[7] * 10)])
    windows.set_log_ends(log_ends(LATER), {"orders": 2})
    moved = [*commits("slow", 100, 110)[1:], *commits("good", 1500)]
    add(windows, [*moved, *commits(HOSTILE, 30, 30, 30, partition=1)], first_order=100)
    judged = cluster_board(windows, LATER)
    with running(folder, config) as started:
        started.publish(board(**dict.fromkeys(names, judged)))
        yield started


def ask(*arguments: str, **environ: str) -> Result:
    return CliRunner().invoke(main, [*arguments], env={"WARREN_URL": None, **environ})


def of(server: Running) -> str:
    return f"http://127.0.0.1:{server.port}"
