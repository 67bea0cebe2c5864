"""Whatever is asked: no server error, and the others are answered."""

import contextlib
import re
import socket
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support.boards import NOW_S, board, cluster_board, windows_of
from support.http_side import Running, ask, running

ENDS = {"orders": [100, 200]}
COMMITS = [("billing", "orders", 0, 10, NOW_S * 1000)]

FIXED = re.findall(
    r"\S+",
    "v2 v3 v4 kafka local consumer billing topic orders status lag config storage default admin "
    "loglevel metrics burrow ready groups group partition explain events openapi.json docs .. .",
)
texts = st.text(st.characters(codec="utf-8"), max_size=12)
escaped = texts.map(lambda text: quote(text, safe=""))
broken = st.sampled_from(["%", "%z", "%zz", "%2", "%00", "%FF%FE", "%2F", "%25", "+", ";", "", " "])
parts = st.one_of(st.sampled_from(FIXED), escaped, broken)
paths = st.lists(parts, max_size=8).map(lambda some: "/" + "/".join(some))
queries = st.one_of(st.just(""), texts.map(quote), st.lists(parts).map("&".join)).map("?".__add__)
methods = st.sampled_from(
    ["GET", "POST", "DELETE", "PUT", "HEAD", "OPTIONS", "PATCH", "TRACE", "BREW", "get"]
)
bodies = st.one_of(st.binary(max_size=200), st.sampled_from([b"{", b"[" * 5000, b'{"level":1}']))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("fuzz")) as started:
        started.publish(board(local=cluster_board(windows_of(ENDS, COMMITS), ENDS)))
        yield started


@given(method=methods, path=paths, query=queries, body=bodies)
@example("GET", "/v3/kafka/local/consumer/" + "x" * 65_536 + "/lag", "", b"")
@example("GET", "/v4/groups", "?" + "&".join(f"a{n}=1" for n in range(60)), b"")
@example("GET", "/v4/groups", "?offset=" + "9" * 400, b"")
@example("GET", "/v4/groups", "?limit=1e2&min_lag=NaN", b"")
@example("POST", "/v3/admin/loglevel", "", b'{"level":' + b"[" * 50_000)
@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_no_request_is_a_server_error(
    server: Running, method: str, path: str, query: str, body: bytes
) -> None:
    if path == "/v4/events":  # does not end
        return

    status = status_of(server.port, method, path + query, body)

    assert 200 <= status < 500


def status_of(port: int, method: str, target: str, body: bytes) -> int:
    """No client library in between: it would refuse most of this."""
    head = f"{method} {target} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(f"{head}Connection: close\r\n\r\n".encode() + body)
        answer = connection.makefile("rb").readline()
    return int(answer.split()[1])


def test_rubbish_instead_of_http_harms_nobody(server: Running) -> None:
    rubbish = [b"\0" * 1000, b"GET\r\n\r\n", b"\x16\x03\x01\x02\0", b"GET / HTTP/9.9\r\n\r\n"]
    for sent in rubbish:
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
            connection.sendall(sent)

    assert ask(server.port, "/burrow/admin").body == b"GOOD"


def test_headers_have_a_limit(server: Running) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(b"GET / HTTP/1.1\r\nX: " + b"x" * 2_000_000 + b"\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            status = connection.makefile("rb").readline()
            assert status.startswith(b"HTTP/1.1 4") or not status

    assert ask(server.port, "/burrow/admin").body == b"GOOD"


def test_clients_that_take_nothing_block_nobody(server: Running) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(50):
            idle = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), 20))
            idle.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 20)

        answers = {ask(server.port, "/burrow/admin").body for _ in range(20)}

    assert answers == {b"GOOD"}
