"""Pages of strangers neither read nor change anything; programs notice nothing of that."""

from collections.abc import Iterator
from http.client import HTTPConnection

import pytest
from support.boards import NOW_S, board, cluster_board, windows_of
from support.browser import chromium
from support.http_side import CONFIG, Running, ask, running

from warren.serve.http.browsers import Browsers

ENDS: dict[str, list[int | None]] = {"orders": [100]}
COMMITS = [("billing", "orders", 0, 10 * n, (NOW_S - 100 + n) * 1000) for n in range(1, 4)]
GROUP = "/v3/kafka/local/consumer/billing"
LEVEL = "/v3/admin/loglevel"
CHROME = {
    "user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/1",
    "accept": "*/*",
    "accept-encoding": "gzip, deflate",
    "accept-language": "en-GB,en;q=0.9",
}
# What a page can do about it in Firefox and Safari: the agent is its choice, languages are not.
DISGUISED = {**CHROME, "user-agent": "Telegraf/1.30", "accept-language": ""}
NO_TEXT = {**DISGUISED, "accept-language": "\xff"}
NODE = {"accept-language": "*", "sec-fetch-mode": "cors", "user-agent": "node"}

# By kind of client and host: further headers, host.
Cases = dict[tuple[str, str], tuple[dict[str, str], str]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    hosts = 'allowed-hosts = ["warren.example.com", ".corp.example.com"]\n[cluster.local]'
    text = CONFIG.replace("[cluster.local]", hosts)
    text += '[general]\nexternal-url = "https://lag.example.com/x"\n'
    with running(tmp_path_factory.mktemp("browsers"), text) as started:
        started.publish(board(local=cluster_board(windows_of(ENDS, COMMITS), ENDS)))
        yield started


def test_a_rebinding_page_reads_nothing_and_people_and_programs_read_everything(
    server: Running,
) -> None:
    ours = [
        "127.0.0.1",
        "[::1]",
        "localhost",
        "warren",
        "warren.monitoring.svc",
        "LAG.example.com.",
    ]
    ours += ["warren.example.com", "corp.example.com", "a.b.corp.example.com"]
    others = ["evil.test", "xlag.example.com", "notcorp.example.com", "127.0.0.1.evil.test"]
    allowed: Cases = {("program", host): ({}, host) for host in (*ours, *others)}
    allowed |= {("node", host): (NODE, host) for host in others}
    allowed |= {("browser", host): (CHROME, host) for host in ours}
    refused: Cases = {("browser", host): (CHROME, host) for host in others}
    refused |= {("disguised", host): (DISGUISED, host) for host in others}
    refused |= {("no text", host): (NO_TEXT, host) for host in others}
    refused |= {("no text, agent", host): ({"user-agent": "\xff"}, host) for host in others}
    refused |= {("origin", host): ({"origin": f"http://{host}:8000"}, host) for host in others}
    wrong = {
        (case, path): got
        for path in ("/", GROUP, "/v4/groups", "/v2/kafka", "/metrics", "/burrow/admin")
        for expected, cases in ((200, allowed), (403, refused))
        for case, (headers, host) in cases.items()
        if (got := ask(server.port, path, headers=headers | {"host": f"{host}:8000"}).status)
        != expected
    }

    assert wrong == {}
    assert b"evil.test" in ask(server.port, "/", headers=CHROME | {"host": "evil.test:1"}).body


def test_a_client_of_http_1_0_needs_no_host(server: Running) -> None:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection._http_vsn_str = "HTTP/1.0"  # type: ignore[attr-defined]  # noqa: SLF001  no other way
    connection.putrequest("GET", "/burrow/admin", skip_host=True, skip_accept_encoding=True)
    connection.endheaders()

    assert connection.getresponse().status == 200
    connection.close()


def test_pages_of_others_change_nothing_and_scripts_do(server: Running) -> None:
    here = f"127.0.0.1:{server.port}"
    refused = {
        "rebound": CHROME | {"host": "evil.test:8000", "origin": "http://evil.test:8000"},
        "rebound, disguised": DISGUISED | {"host": "evil.test:8000"},
        "from elsewhere": CHROME | {"host": here, "origin": "http://evil.test"},
        "from a file or a frame": {"host": here, "origin": "null"},
        "another port": {"host": here, "origin": "http://127.0.0.1:1"},
        "as new browsers say it": {"host": here, "sec-fetch-site": "cross-site"},
        "another name of the site": {"host": here, "sec-fetch-site": "same-site"},
    }
    allowed = {
        "curl": {"content-type": "application/x-www-form-urlencoded"},
        "curl by any name": {"host": "lag-of-burrow.example.org"},
        "a page of ours": CHROME | {"host": here, "origin": f"http://{here}"},
        "in a new browser": CHROME | {"host": here, "sec-fetch-site": "same-origin"},
    }

    def changed(headers: dict[str, str]) -> tuple[int, int]:
        answers = (
            ask(server.port, LEVEL, "POST", '{"level": "info"}', headers),
            ask(server.port, GROUP, "DELETE", headers=headers),
        )
        return answers[0].status, answers[1].status

    assert {name: changed(headers) for name, headers in refused.items()} == dict.fromkeys(
        refused, (403, 403)
    )
    assert server.actions.deleted == []
    assert {name: changed(headers) for name, headers in allowed.items()} == dict.fromkeys(
        allowed, (200, 200)
    )


def test_a_body_for_v4_must_say_that_it_is_json(server: Running) -> None:
    kinds = {"text/plain": 415, "application/x-www-form-urlencoded": 415, "": 415}
    kinds |= {"application/json; charset=utf-8": 405, "application/merge-patch+json": 405}

    got = {
        kind: ask(server.port, "/v4/groups", "POST", "{}", {"content-type": kind}).status
        for kind in kinds
    }

    assert got == kinds
    assert ask(server.port, "/v4/groups", "POST").status == 405


def test_a_browser_that_does_not_say_where_from_must_send_json(server: Running) -> None:
    kinds = {"text/plain": 415, "application/x-www-form-urlencoded": 415, "application/json": 200}

    got = {
        kind: ask(server.port, LEVEL, "POST", '{"level": "info"}', CHROME | {"content-type": kind})
        for kind in kinds
    }

    assert {kind: answer.status for kind, answer in got.items()} == kinds


def test_the_page_that_may_read_across_origins_still_does() -> None:
    origin = "https://ui.example.com"
    headers = {**CHROME, "host": "lag.example.org", "origin": origin}
    same = {**CHROME, "host": "evil.test"}

    assert Browsers([], origin).may_read(headers.get)
    assert not Browsers([], "https://other.example.com").may_read(headers.get)
    assert not Browsers([], "").may_read(same.get)
    assert Browsers([], "*").may_read(same.get)  # any page may read without a trick
    assert Browsers(["*"], "").may_read(same.get)


def test_with_a_token_or_tls_any_name_will_do(tmp_path_factory: pytest.TempPathFactory) -> None:
    text = CONFIG.replace("[cluster.local]", 'read-token = "hush"\n[cluster.local]')
    headers = CHROME | {"host": "evil.test"}
    with running(tmp_path_factory.mktemp("token"), text) as locked:
        without = ask(locked.port, GROUP, headers=headers)
        given = ask(locked.port, "/v3/kafka", headers=headers | {"authorization": "Bearer hush"})

    assert (without.status, given.status) == (401, 200)


def test_chromium_on_a_rebound_name(server: Running) -> None:
    script = (
        "async ([path, level]) => ["
        "(await fetch(path)).status, (await fetch(path, {method: 'DELETE'})).status,"
        "(await fetch(level, {method: 'POST', body: '{\"level\": \"debug\"}'})).status]"
    )
    server.actions.deleted.clear()
    with chromium("--host-resolver-rules=MAP evil.test 127.0.0.1") as browser:
        page = browser.new_page()
        first = page.goto(f"http://evil.test:{server.port}/")
        rebound = page.evaluate(script, [GROUP, LEVEL])
        page.goto(f"http://localhost:{server.port}/")
        ours = page.evaluate(script, [GROUP, LEVEL])

    assert first is not None
    assert (first.status, rebound) == (403, [403, 403, 403])
    assert ours == [200, 200, 200]
    assert server.actions.deleted == [("local", "billing", None)]
