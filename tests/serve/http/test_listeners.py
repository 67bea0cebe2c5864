"""Where the HTTP side listens, who may ask, and that the slow do not block the others."""

import base64
import contextlib
import socket
import ssl
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from support.certificates import make_certificates
from support.http_side import CONFIG, ask, running

from warren import config
from warren.errors import StartError
from warren.serve.http.listeners import bind

HEALTH = "/burrow/admin"
GROUP = "/v3/kafka/local/consumer/billing"


def test_a_port_that_is_taken_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        file = tmp_path / "burrow.toml"
        file.write_text(CONFIG.replace(":0", f":{port}"))
        servers = config.load(file, {}).config.httpservers

        with pytest.raises(StartError) as raised:
            bind(servers)

    expected = f"cannot listen on 127.0.0.1:{port} (httpserver.default): address already in use"
    assert str(raised.value) == expected


def test_every_listener_answers_whatever_its_family(tmp_path: Path) -> None:
    other = '[httpserver.six]\naddress = "[::1]:0"\n[httpserver.every]\naddress = ":0"\n'
    with running(tmp_path, CONFIG + other) as server:
        ports = {each.server.name: each.port for each in server.listeners}
        asked = [("127.0.0.1", "default"), ("::1", "six"), ("127.0.0.1", "every"), ("::1", "every")]
        answers = []
        for host, name in asked:
            with contextlib.closing(HTTPConnection(host, ports[name], timeout=20)) as connection:
                connection.request("GET", HEALTH)
                answers.append(connection.getresponse().read())

    assert answers == [b"GOOD"] * 4


def test_who_listens_widely_without_a_token_is_warned(tmp_path: Path) -> None:
    cases = {
        'address = ":0"': True,
        'address = "0.0.0.0:0"': True,
        'address = "127.0.0.1:0"': False,
        'address = "[::1]:0"': False,
        'address = ":0"\nwrite-token = "x"': True,
        'address = ":0"\nallow-writes = false': True,
        'address = ":0"\nread-token = "x"\nwrite-token = "y"': False,
    }
    wrong = []
    for case, expected in cases.items():
        file = tmp_path / "burrow.toml"
        file.write_text(f"[httpserver.default]\n{case}\n")
        with capture_logs() as lines:
            for listener in bind(config.load(file, {}).config.httpservers):
                listener.socket.close()
        if any(line["log_level"] == "warning" for line in lines) != expected:
            wrong.append(case)

    assert wrong == []


def test_any_timeout_of_burrow_can_be_said(tmp_path: Path) -> None:
    for seconds in (0, -1, 2_147_484, 10**15):
        limits = f"timeout = {seconds}\n[cluster"
        with running(tmp_path, CONFIG.replace("[cluster", limits)) as server:
            assert ask(server.port, HEALTH).body == b"GOOD"


def test_of_a_name_with_several_addresses_the_one_of_ipv4_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "burrow.toml"
    file.write_text(CONFIG.replace("127.0.0.1:0", "localhost:0"))

    (listener,) = bind(config.load(file, {}).config.httpservers)

    with listener.socket:
        assert listener.socket.family == socket.AF_INET


def test_tls_with_and_without_client_certificates(tmp_path: Path) -> None:
    pem = make_certificates(tmp_path / "ca.pem")
    tls = f'[tls.mine]\ncertfile = "{pem}"\nkeyfile = "{pem}"\n'
    checked = f'client-cafile = "{tmp_path / "ca.pem"}"\n'
    listeners = (
        '[httpserver.free]\naddress = "127.0.0.1:0"\ntls = "mine"\n'
        f'[httpserver.strict]\naddress = "127.0.0.1:0"\ntls = "mine"\n{checked}'
    )
    stranger = ssl.create_default_context(cafile=tmp_path / "ca.pem")
    known = ssl.create_default_context(cafile=tmp_path / "ca.pem")
    known.load_cert_chain(pem)

    with running(tmp_path, tls + listeners) as server:
        ports = {each.server.name: each.port for each in server.listeners}

        assert https(ports["free"], stranger) == b"GOOD"
        assert https(ports["strict"], known) == b"GOOD"
        with pytest.raises((ssl.SSLError, ConnectionError)):
            https(ports["strict"], stranger)


def https(port: int, context: ssl.SSLContext) -> bytes:
    with contextlib.closing(HTTPSConnection("localhost", port, context=context)) as connection:
        connection.request("GET", HEALTH)
        return connection.getresponse().read()


def test_tokens_part_readers_from_writers(tmp_path: Path) -> None:
    tokens = 'read-token = "see"\nwrite-token = "do"\n'
    with running(tmp_path, CONFIG.replace("[cluster", f"{tokens}[cluster")) as server:
        nothing: dict[str, str] = {}
        see, do = bearer("see"), bearer("do")
        cases = [
            ("GET", HEALTH, nothing, 200),
            ("GET", "/v3/kafka", nothing, 401),
            ("GET", "/metrics", nothing, 401),
            ("GET", "/nowhere", nothing, 401),
            ("GET", "/v3/kafka", see, 200),
            ("GET", "/v3/kafka", basic("anyone", "see"), 200),
            ("GET", "/v3/kafka", basic("anyone", "no"), 401),
            ("GET", "/v3/kafka", {"authorization": "Basic ***"}, 401),
            ("GET", "/v3/kafka", do, 200),
            ("GET", "/v3/kafka", nothing, 401),
            ("DELETE", GROUP, nothing, 401),
            ("DELETE", GROUP, see, 401),
            ("DELETE", GROUP, do, 200),
        ]
        wrong = [
            (method, path, headers, status, expected)
            for method, path, headers, expected in cases
            if (status := ask(server.port, path, method, headers=headers).status) != expected
        ]
        challenge = ask(server.port, "/v3/kafka").headers["www-authenticate"]

    assert wrong == []
    assert "Basic" in challenge
    assert server.actions.deleted == [("local", "billing", None)]


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def basic(user: str, password: str) -> dict[str, str]:
    return {"authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


def test_writing_can_be_turned_off(tmp_path: Path) -> None:
    with running(tmp_path, CONFIG.replace("[cluster", "allow-writes = false\n[cluster")) as server:
        deleted = ask(server.port, GROUP, "DELETE").status
        posted = ask(server.port, "/v3/admin/loglevel", "POST", '{"level":"debug"}').status

        assert (deleted, posted) == (403, 403)
        assert (server.actions.deleted, server.actions.level) == ([], "info")


def test_tokens_are_not_in_the_config_answers(tmp_path: Path) -> None:
    tokens = 'read-token = "tiger"\n'
    with running(tmp_path, CONFIG.replace("[cluster", f"{tokens}[cluster")) as server:
        answer = ask(server.port, "/v3/config", headers=bearer("tiger"))

    assert answer.status == 200
    assert b"tiger" not in answer.body


def test_a_client_that_says_nothing_is_cut_off_and_blocks_nobody(tmp_path: Path) -> None:
    limits = "timeout = 1\nmax-connections = 4\n"
    with running(tmp_path, CONFIG.replace("[cluster", f"{limits}[cluster")) as server:
        ask(server.port, HEALTH)
        with contextlib.ExitStack() as stack:
            silent = [
                stack.enter_context(socket.create_connection(("127.0.0.1", server.port), 20))
                for _ in range(20)
            ]
            for connection in silent[::2]:
                connection.sendall(b"GET / HTTP/1.1\r\n")

            answer = ask(server.port, HEALTH).body

            assert answer == b"GOOD"
            assert all(ended(connection) for connection in silent)


def test_a_tls_handshake_that_stalls_is_cut_off(tmp_path: Path) -> None:
    pem = make_certificates(tmp_path / "ca.pem")
    tls = f'[tls.mine]\ncertfile = "{pem}"\nkeyfile = "{pem}"\n'
    listener = '[httpserver.slow]\naddress = "127.0.0.1:0"\ntls = "mine"\ntimeout = 1\n'
    with running(tmp_path, tls + listener) as server, contextlib.ExitStack() as stack:
        silent, half_said = (
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), 20))
            for _ in range(2)
        )
        half_said.sendall(bytes.fromhex("16030100c8"))  # the head of a greeting, and no more

        assert ended(silent)
        assert ended(half_said)


def ended(connection: socket.socket) -> bool:
    """Whether the other side closes, after whatever it says."""
    try:
        while connection.recv(4096):
            pass
    except ConnectionResetError:
        pass
    return True


def test_a_body_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        answer = ask(server.port, "/v3/admin/loglevel", "POST", "x" * 100_000)

    assert answer.status == 413
