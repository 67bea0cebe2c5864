"""Who else may listen at an address: each is recognised, or refused in one clear line."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from support.certificates import make_certificates
from support.command_line import ask, of, warren
from support.http_side import Running
from support.http_side import ask as get
from support.servers.loopback import listening as serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with warren(tmp_path_factory.mktemp("refusals")) as started:
        yield started


@contextmanager
def listening(behind: int | None) -> Iterator[str]:
    """Speaks Burrow's API as the Warren on a port behind it does, and nothing else."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = behind is not None and self.path.startswith("/v3/")
            found = get(behind, self.path) if known and behind else None
            body = found.body if found else b"404 page not found\n"
            self.send_response(found.status if found else 404)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with serving(Handler, None) as url:
        yield url


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_what_cannot_be_asked_is_one_line(server: Running, tmp_path: Path) -> None:
    nobody, tls = f"127.0.0.1:{unused_port()}", make_certificates(tmp_path / "ca.pem")
    with listening(behind=None) as stranger, serving(BaseHTTPRequestHandler, tls) as secured:
        asked = {
            "nothing listens there": ask("status", "--url", f"http://{nobody}"),
            "is no Warren: it answers 404": ask("lag", "x", "--url", stranger),
            "is not a URL with http://": ask("status", "--url", "ftp://127.0.0.1"),
            "is not a URL": ask("status", "--url", "http://127.0.0.1:port"),
            f"speaks no TLS: write {of(server)}": ask(
                "status", "--url", of(server).replace("http:", "https:")
            ),
            f"with TLS, write {secured}": ask(
                "status", "--url", secured.replace("https:", "http:")
            ),
            "did you mean stuck?": ask("lag", "stick", "--url", of(server)),
            "no group nobody in cluster east": ask(
                "lag", "nobody", "--cluster", "east", "--url", of(server)
            ),
            f"cluster kafka ({nobody}) cannot be reached": ask("status", "--bootstrap", nobody),
            "--bootstrap ": ask("status", "--bootstrap", "no port"),
        }

    wrong = {
        expected: (done.exit_code, done.stderr)
        for expected, done in asked.items()
        if done.exit_code != 1
        or expected not in done.stderr
        or len(done.stderr.splitlines()) != 1
        or done.stdout
    }
    assert wrong == {}


def test_only_one_is_asked_at_a_time() -> None:
    both = ask("status", "--url", "http://127.0.0.1:1", "--bootstrap", "127.0.0.1:1")
    chosen = ask("status", "--bootstrap", "no port", WARREN_URL="http://127.0.0.1:1")

    assert both.exit_code == 2
    assert chosen.exit_code == 1  # the environment is no choice of the moment


def test_a_burrow_is_asked_group_by_group(server: Running) -> None:
    with listening(behind=server.port) as burrow:
        by_warren, by_burrow = ask("status", "--url", of(server)), ask("status", "--url", burrow)
        one = ask("lag", "stuck", "--url", burrow)
        missing = ask("lag", "stick", "--url", burrow)

    def told(table: str) -> list[list[str]]:
        """Group, status and lag, which both know."""
        return [[part for part in line.split() if part != "▁█"][:4] for line in table.splitlines()]

    assert by_burrow.exit_code == by_warren.exit_code == 4
    assert [line[0] for line in told(by_burrow.stdout)] == [
        line[0] for line in told(by_warren.stdout)
    ]
    assert one.stdout.splitlines()[0] == "stuck in local: ERR  lag 1,493 in 2 partitions"
    assert one.exit_code == 4
    assert "did you mean stuck?" in missing.stderr
