"""Who takes an answer slowly, or leaves in the middle, costs the others nothing."""

import asyncio
import contextlib
import socket
import time
from collections.abc import Iterator
from http.client import HTTPConnection, IncompleteRead
from pathlib import Path

import pytest
from support.boards import NOW_S, board, cluster_board, windows_of
from support.http_side import CONFIG, Running, ask, running
from support.waiting import eventually

from warren.serve.board_file.board_view import View
from warren.serve.http.channel import Action
from warren.serve.http.site import Site, SiteSettings
from warren.serve.http.worker import MOST_LARGE
from warren.serve.v4.events import follow

WORKERS = 2
# The name makes each line long: together more than all buffers on the way can hold.
GROUP = "g" * 8_000
PARTITIONS = 2_000
COMMITS = [(GROUP, "orders", n, 1, NOW_S * 1000) for n in range(PARTITIONS)]
ENDS = {"orders": [10] * PARTITIONS}
WAIT_S = 20.0


@contextlib.contextmanager
def large(folder: Path, limits: str) -> Iterator[Running]:
    with running(folder, CONFIG.replace("[cluster", f"{limits}[cluster")) as started:
        started.publish(board(local=cluster_board(windows_of(ENDS, COMMITS), ENDS)))
        yield started


@contextlib.contextmanager
def asking(port: int, path: str) -> Iterator[HTTPConnection]:
    """A client that has asked and takes little at a time."""
    connection = HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
    connection.sock = socket.socket()
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.sock.settimeout(WAIT_S)
    connection.sock.connect(("127.0.0.1", port))
    connection.request("GET", path)
    with contextlib.closing(connection):
        yield connection


def status_of(port: int, path: str) -> int:
    with asking(port, path) as connection:
        return connection.getresponse().status


def test_large_answers_on_their_way_are_limited(tmp_path: Path) -> None:
    with large(tmp_path, "") as server, contextlib.ExitStack() as stack:
        answers = []
        for _ in range(WORKERS * MOST_LARGE + 4):
            connection = stack.enter_context(asking(server.port, "/metrics"))
            answers.append(stack.enter_context(connection.getresponse()))
        refused = [each for each in answers if each.status == 503]

        assert ask(server.port, "/burrow/admin").body == b"GOOD"
        assert len(refused) >= 4
        assert {each.headers["retry-after"] for each in refused} == {"1"}
        stack.close()
        eventually(lambda: status_of(server.port, "/metrics"), 200, WAIT_S)  # a slot comes free


def test_an_answer_that_is_not_taken_in_time_is_cut_off_and_known_to_be(tmp_path: Path) -> None:
    with large(tmp_path, "timeout = 3\n") as server, asking(server.port, "/metrics") as connection:
        answer = connection.getresponse()
        whole = ask(server.port, "/metrics").body  # another who takes everything gets everything
        promised = int(answer.headers["content-length"])
        time.sleep(3.5)  # the time-out is what this is about

        assert len(whole) == pytest.approx(promised, abs=2000)
        with pytest.raises((IncompleteRead, ConnectionResetError)):
            answer.read()


def test_a_large_answer_is_whole_for_who_takes_it_slowly(tmp_path: Path) -> None:
    with large(tmp_path, "") as server:
        with asking(server.port, f"/v3/kafka/local/consumer/{GROUP}/lag") as slow:
            answer = slow.getresponse()
            ask(server.port, "/burrow/admin")
            body = answer.read()
        again = ask(server.port, f"/v3/kafka/local/consumer/{GROUP}/lag")

    assert len(body) == int(answer.headers["content-length"])
    assert body == again.body


def test_listeners_leave_room_for_others_and_free_their_places(tmp_path: Path) -> None:
    with large(tmp_path, "max-connections = 6\n") as server, contextlib.ExitStack() as stack:
        statuses = list[int]()
        while 429 not in statuses and len(statuses) < 3 * WORKERS + 1:
            connection = stack.enter_context(asking(server.port, "/v4/events"))
            statuses.append(connection.getresponse().status)

        assert statuses.count(200) <= 3 * WORKERS
        assert 429 in statuses
        assert ask(server.port, "/burrow/admin").body == b"GOOD"
        stack.close()
        eventually(lambda: status_of(server.port, "/v4/events"), 200, WAIT_S)


def test_listeners_hear_that_the_stream_lives_though_boards_come_all_the_time() -> None:
    async def heard() -> bytes:
        site = Site(NOTHING, no_call)
        stream = follow(site, every_board=False, keep_alive_s=0.05)
        showing = asyncio.create_task(show_boards(site))
        async with asyncio.timeout(WAIT_S):
            first, second = await anext(stream), await anext(stream)
        showing.cancel()
        await stream.aclose()
        return first[:12] + second

    assert asyncio.run(heard()) == b"event: board: still here\n\n"


async def show_boards(site: Site) -> None:
    while True:
        site.show(View.empty())
        await asyncio.sleep(0.01)


async def no_call(_: Action) -> str | None:
    raise NotImplementedError


NOTHING = SiteSettings(
    host="",
    allow_origin="",
    minimum_complete=0,
    allowed_lag=0,
    clusters=[],
    main={},
    modules={},
    max_series=0,
    also=[],
    judged_every_s=10,
    grafana_url="",
    keeps_history=False,
    shown={},
)
