"""What changes from board to board, and since when."""

from collections.abc import Mapping
from dataclasses import replace

import msgspec
from support.boards import NOW_S, cluster_board, windows_of

from warren.model.board import Board
from warren.model.health import ClusterHealth, Health, NotifierHealth
from warren.serve.board_file.change_log import MOST, ChangeLog, Rebalance, StatusChange

ENDS: dict[str, list[int | None]] = {"orders": [1000]}
READY = Health(ready=True)


def board(
    at_ms: int,
    stalled: Mapping[str, bool],
    health: Health = READY,
    generations: Mapping[str, int] | None = None,
) -> Board:
    """Groups that are stalled or have read everything."""
    commits = [
        (group, "orders", 0, 500 if is_stalled else 991 + number, (NOW_S - 10 + number) * 1000)
        for group, is_stalled in stalled.items()
        for number in range(10)
    ]
    judged = cluster_board(windows_of(ENDS, commits), ENDS)
    judged = replace(judged, generations=dict(generations or {}))
    return Board(at_ms, {"local": judged}, health)


def since(log: ChangeLog, shown: Board) -> dict[str, int]:
    columns = log.note(shown)["local"]
    return dict(
        zip(shown.clusters["local"].verdicts.names, columns["group_since_ms"].tolist(), strict=True)
    )


def test_a_status_keeps_its_moment_while_groups_come_and_go() -> None:
    log = ChangeLog()

    first = since(log, board(1, {"billing": False, "ledger": False}))
    second = since(log, board(2, {"audit": True, "billing": False, "ledger": True}))
    third = since(log, board(3, {"audit": True, "ledger": True}))

    assert first == {"billing": 1, "ledger": 1}
    assert second == {"audit": 2, "billing": 1, "ledger": 2}
    assert third == {"audit": 2, "ledger": 2}
    assert log.listed().statuses == [
        StatusChange("local", "audit", None, "ERR", 2),
        StatusChange("local", "ledger", "OK", "ERR", 2),
        StatusChange("local", "billing", "OK", None, 3),
    ]


def test_what_has_not_been_read_yet_is_no_change() -> None:
    log = ChangeLog()
    reading = Health(ready=False)

    log.note(board(1, {"billing": True}, reading))
    log.note(board(2, {"billing": False, "ledger": False}, reading))
    columns = log.note(board(3, {"billing": False, "ledger": False}))["local"]

    assert log.listed().statuses == []
    assert columns["watched_since_ms"].tolist() == [3]


def test_generations_that_begin_are_rebalances() -> None:
    log = ChangeLog()
    for at_ms, known in enumerate(({}, {"billing": 4}, {"billing": 4}, {"billing": 6}), start=1):
        log.note(board(at_ms, {"billing": False}, generations=known))

    assert log.listed().rebalances == [Rebalance("local", "billing", 6, 4)]


def test_the_log_is_bounded() -> None:
    log = ChangeLog()
    for at_ms in range(3):
        log.note(board(at_ms, {f"group-{n:04}": at_ms % 2 == 1 for n in range(MOST)}))

    kept = log.listed().statuses
    assert len(kept) == MOST
    assert {each.moment_ms for each in kept} == {2}


def test_it_says_from_when_on_no_change_is_forgotten() -> None:
    log = ChangeLog()
    told = []
    for at_ms in (10, 20, 30):
        log.note(board(at_ms, {f"group-{n:04}": at_ms == 20 for n in range(MOST - 1)}))
        told.append(log.listed().complete_since_ms)
    log.note(board(40, {f"group-{n:04}": n == 0 for n in range(MOST - 1)}))

    assert told == [0, 0, 20]  # at 20 ms there were others
    assert log.listed().complete_since_ms == 20


def test_a_problem_is_known_since_it_began() -> None:
    log, fine = ChangeLog(), NotifierHealth("", 0)
    failing = NotifierHealth("503 from the pager", 0)
    for at_ms, pager in enumerate((fine, failing, failing), start=1):
        cluster = ClusterHealth(problem="no broker answers" if at_ms == 3 else "")
        health = msgspec.structs.replace(
            READY, clusters={"local": cluster}, notifiers={"pager": pager}
        )
        log.note(board(at_ms, {"billing": False}, health))
    broken = log.listed().problems_since_ms
    log.note(board(4, {"billing": False}))

    assert broken == {"clusters.local": 3, "notifiers.pager": 2}
    assert log.listed().problems_since_ms == {}
