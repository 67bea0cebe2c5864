"""Class http, against a real receiver."""

import base64
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.certificates import make_certificates
from support.messages import digest, message
from support.servers.http_receiver import HttpReceiver, http_receiver

from warren.config import FrozenMap, HttpNotifier, Secret
from warren.errors import SendFailed
from warren.notify.senders.webhook import HttpSender


@pytest.fixture
def template(tmp_path: Path) -> str:
    file = tmp_path / "a.tmpl"
    file.write_text("{{.Group}} is {{.Result.Status}}")
    return str(file)


@pytest.fixture
def receiver() -> Iterator[HttpReceiver]:
    with http_receiver() as running:
        yield running


@contextmanager
def http(template: str, url: str, **keys: Any) -> Iterator[HttpSender]:
    files = {"template_open": template, "template_close": template, "send_close": True}
    urls = {"url_open": url, "url_close": url}
    sender = HttpSender(HttpNotifier(name="n", class_name="http", **{**files, **urls, **keys}))
    try:
        yield sender
    finally:
        sender.close()


def failure(template: str, url: str, **keys: Any) -> SendFailed:
    with http(template, url, **keys) as sender, pytest.raises(SendFailed) as raised:
        sender.send(message())
    return raised.value


def test_a_message_is_a_request_with_the_rendered_template(
    receiver: HttpReceiver, template: str
) -> None:
    with http(template, f"{receiver.url}/x/{{{{.Group}}}}?id={{{{.ID}}}}") as sender:
        answer = sender.send(message(group="billing"))

    got = receiver.only
    assert answer == "200 OK: ok"
    assert (got.method, got.path) == ("POST", "/x/billing?id=id-1")
    assert got.body == "billing is ERR"
    assert got.headers["content-type"] == "application/json"
    assert "authorization" not in got.headers


def test_open_and_close_have_their_own_method_and_url(
    receiver: HttpReceiver, template: str
) -> None:
    keys = {"method_close": "DELETE", "url_close": f"{receiver.url}/over"}

    with http(template, f"{receiver.url}/begun", **keys) as sender:
        sender.send(message("open"))
        sender.send(message("close"))

    told = [(got.method, got.path) for got in receiver.got]
    assert told == [("POST", "/begun"), ("DELETE", "/over")]


def test_headers_and_basic_authentication(receiver: HttpReceiver, template: str) -> None:
    keys = {
        "headers": FrozenMap({"content-type": "text/plain", "x-origin": "warren"}),
        "username": "user",
        "password": Secret("pässword"),
    }

    with http(template, receiver.url, **keys) as sender:
        sender.send(message())

    headers = receiver.only.headers
    login = base64.b64encode("user:pässword".encode()).decode()
    assert headers["content-type"] == "text/plain"
    assert headers["x-origin"] == "warren"
    assert headers["authorization"] == f"Basic {login}"


def test_connections_are_kept_unless_told_otherwise(receiver: HttpReceiver, template: str) -> None:
    for keys in ({}, {"disable_http_keepalive": True}):
        with http(template, receiver.url, **keys) as sender:
            sender.send(message())
            sender.send(message())

    ports = [got.port for got in receiver.got]
    assert ports[0] == ports[1]
    assert ports[2] != ports[3]


def test_redirects_are_followed(receiver: HttpReceiver, template: str) -> None:
    receiver.location = "/moved"

    with http(template, receiver.url) as sender:
        sender.send(message())

    assert [(got.path, got.body) for got in receiver.got] == [
        ("/", 'a&b "c" is ERR'),
        ("/moved", 'a&b "c" is ERR'),
    ]


def test_the_proxy_of_the_environment_is_used_but_not_for_this_machine(
    receiver: HttpReceiver, template: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", receiver.url)
    monkeypatch.setenv("no_proxy", "direct.invalid")

    with http(template, "http://alerts.invalid/v1") as sender:
        sender.send(message())
    with http(template, f"{receiver.url}/own") as sender:
        sender.send(message())

    assert [got.path for got in receiver.got] == ["http://alerts.invalid/v1", "/own"]
    assert "cannot reach http://direct.invalid" in str(failure(template, "http://direct.invalid/"))


def test_a_digest_is_a_document_of_its_own(receiver: HttpReceiver, template: str) -> None:
    with http(template, receiver.url, extras=FrozenMap({"api_key": "k"})) as sender:
        sender.send(digest(count=2))

    document = json.loads(receiver.only.body)
    assert (document["event"], document["digest"], document["count"]) == ("open", True, 2)
    assert document["counts"] == {"local": {"ERR": 2}}
    assert document["extras"] == {"api_key": "k"}
    assert document["groups"][1] == {
        "cluster": "local",
        "group": "group-1",
        "status": "ERR",
        "totallag": 1,
        "id": "id-1",
        "start": "2023-11-14T22:13:20Z",
        "reason": "",
        "word": "",
        "owner": "",
    }


def test_refusals_say_what_the_receiver_said(receiver: HttpReceiver, template: str) -> None:
    receiver.answer = b"over\n capacity"
    told = {}
    for status in (500, 503, 429, 400, 401, 404):
        receiver.status = status
        error = failure(template, f"{receiver.url}/secret-path?key=1")
        told[status] = (str(error), error.retry)

    assert told[500] == (
        f"{receiver.url} answered 500 Internal Server Error: over capacity",
        True,
    )
    assert [status for status, (_, retry) in told.items() if retry] == [500, 503, 429]
    assert not any("secret" in text for text, _ in told.values())


def test_a_slow_receiver_is_given_up_after_the_whole_time(
    receiver: HttpReceiver, template: str
) -> None:
    receiver.may_answer.clear()

    error = failure(template, receiver.url, timeout=1)

    assert str(error) == f"{receiver.url} did not answer within 1 s"
    assert error.retry


def test_a_host_that_is_not_there(template: str) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"

        error = failure(template, url)

    assert str(error) == f"cannot reach {url}: connection refused"
    assert error.retry
    unknown = failure(template, "http://nowhere.invalid/x")
    assert str(unknown) == "cannot reach http://nowhere.invalid: its name is not known"


def test_certificates_are_verified(tmp_path: Path, template: str) -> None:
    ca = tmp_path / "ca.pem"
    with http_receiver(make_certificates(ca)) as receiver:
        with http(template, receiver.url, extra_ca=str(ca)) as sender:
            assert sender.send(message()) == "200 OK: ok"
        with http(template, receiver.url, noverify=True) as sender:
            assert sender.send(message()) == "200 OK: ok"

        error = failure(template, receiver.url)

    assert len(receiver.got) == 2
    assert str(error).startswith(f"cannot reach {receiver.url}: its certificate is not accepted: ")
    assert error.retry


def test_an_expired_certificate_is_told(tmp_path: Path, template: str) -> None:
    ca = tmp_path / "ca.pem"
    with http_receiver(make_certificates(ca, timedelta(minutes=-5))) as receiver:
        error = failure(template, receiver.url, extra_ca=str(ca))

    problem = "its certificate is not accepted: certificate has expired"
    assert str(error) == f"cannot reach {receiver.url}: {problem}"


def test_what_is_no_url_is_told(template: str) -> None:
    told = [str(failure(template, url)) for url in ("alerts/{{.Group}}", "ftp://h/", "http:///x")]

    assert told == ["not a valid URL: it must begin with http://host"] * 3
    assert not failure(template, "http://h/{{.Group}}\n").retry


def test_a_header_may_hold_any_text(receiver: HttpReceiver, template: str) -> None:
    keys = {"headers": FrozenMap({"x-team": "Störung"})}

    with http(template, receiver.url, **keys) as sender:
        sender.send(message())

    sent = receiver.only.headers["x-team"]
    assert sent.encode("latin-1").decode() == "Störung"  # as Go sends it: UTF-8


def test_what_surrounds_a_request_fails_like_the_request_itself(
    template: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = {}
    for proxy in ("socks5://127.0.0.1:1", "gopher://127.0.0.1:1"):
        monkeypatch.setenv("http_proxy", proxy)
        told[proxy] = failure(template, "http://alerts.invalid/v1")
    with pytest.raises(SendFailed) as raised, http(template, "https://x", extra_ca=str(tmp_path)):
        pass

    assert all(
        str(each).startswith("cannot send a request to http://alerts.invalid: ")
        for each in told.values()
    )
    assert all(each.retry for each in told.values())
    assert str(raised.value).startswith(f"certificates of {tmp_path} cannot be used: ")


def test_a_url_that_names_a_group_or_an_incident_takes_no_digest(template: str) -> None:
    urls = {
        "http://h/{{.Extras.app}}": True,
        "http://h/incidents/{{.ID}}": False,
        "http://h/{{.Cluster}}/x": False,
        "http://h/{{.Group}}/x": False,
        "http://h/{{.Start.Unix}}": False,
        "http://h/{{.Result.TotalLag}}": False,
        "http://h/{{if not .Group}}{{.Nothing}}{{end}}": False,
    }

    found = {}
    for url in urls:
        with http(template, url) as sender:
            found[url] = sender.digests("open")

    assert found == urls


def test_a_close_may_come_late_if_it_names_its_incident_and_not_only_its_group(
    tmp_path: Path,
) -> None:
    cases = {
        "incident in the URL": ("/{{.Group}}/{{.ID}}", "{{.Group}}", True),
        "incident in the body": ("/close", "{{.Group}} {{.ID}}", True),
        "group in the URL": ("/{{.Group}}", "{{.ID}}", False),
        "group in the body": ("/close", "{{.Group}}", False),
    }
    file, wrong = tmp_path / "close.tmpl", []
    for name, (path, body, expected) in cases.items():
        file.write_text(body)
        with http(str(file), f"http://localhost{path}") as sender:
            if sender.closes_by_id(lag=False) != expected:
                wrong.append(name)

    assert wrong == []
