"""The configuration in Burrow's shapes, for every kind of module; secrets are not in it."""

from pathlib import Path
from typing import Any

from support.config_files import load_text

from warren.model.go_json import encode
from warren.serve import v3_config

CONFIG = """
[zookeeper]
servers = ["zk1:2181"]
[tls.t]
noverify = true
[sasl.s]
username = "user"
password = "tiger"
handshake-first = true
[client-profile.p]
client-id = "me"
kafka-version = "2.0.0"
tls = "t"
sasl = "s"
[cluster.c]
class-name = "kafka"
servers = ["k1:9092", "k2:9092"]
client-profile = "p"
[consumer.k]
class-name = "kafka"
cluster = "c"
servers = ["k1:9092"]
group-allowlist = "^a"
start-latest = true
[consumer.z]
class-name = "kafka_zk"
cluster = "c"
servers = ["zk1:2181"]
zookeeper-path = "/chroot"
[notifier.web]
class-name = "http"
url-open = "https://user:tiger@example.com/open?token=tiger&a=b"
template-open = "{folder}/open.tmpl"
headers = { authorization = "tiger" }
password = "tiger"
extras = { app = "burrow", api_key = "tiger" }
noverify = true
[notifier.mail]
class-name = "email"
server = "mail.example.com"
port = 587
from = "a@example.com"
to = "b@example.com"
username = "user"
password = "tiger"
template-open = "{folder}/open.tmpl"
[notifier.nobody]
class-name = "null"
template-open = "{folder}/open.tmpl"
"""


def shapes(folder: Path) -> dict[str, dict[str, dict[str, Any]]]:
    (folder / "open.tmpl").write_text("Subject: x\n")
    loaded = load_text(folder, CONFIG.replace("{folder}", str(folder)), {})
    return v3_config.module_answers(loaded.config)


def test_clusters_and_consumers(tmp_path: Path) -> None:
    found = shapes(tmp_path)

    profile = {
        "name": "p",
        "client-id": "me",
        "kafka-version": "2.0.0",
        "tls": {"name": "t", "noverify": True, "certfile": "", "keyfile": "", "cafile": ""},
        "sasl": {"name": "s", "handshake-first": True, "username": "user"},
    }
    assert found["cluster"]["c"] == {
        "class-name": "kafka",
        "servers": ("k1:9092", "k2:9092"),
        "client-profile": profile,
        "topic-refresh": 60,
        "offset-refresh": 10,
    }
    assert [found["consumer"]["k"][key] for key in ("zookeeper-timeout", "offsets-topic")] == [
        0,
        "__consumer_offsets",
    ]
    assert found["consumer"]["k"]["group-allowlist"] == "^a"
    assert [found["consumer"]["z"][key] for key in ("zookeeper-path", "zookeeper-timeout")] == [
        "/chroot",
        30,
    ]


def test_notifiers_of_each_class(tmp_path: Path) -> None:
    found = shapes(tmp_path)["notifier"]

    common = ["class-name", "group-allowlist", "interval", "threshold"]
    templates = ["template-open", "template-close", "extra", "send-close"]
    http = ["timeout", "keepalive", "url-open", "url-close", "method-open", "method-close"]
    email = ["server", "port", "auth-type", "username", "from", "to"]
    trust = ["extra-ca", "noverify"]
    assert {name: list(shape) for name, shape in found.items()} == {
        "web": [*common, *http, *templates, *trust],
        "mail": [*common, *templates, *email, *trust],
        "nobody": [*common, *templates],
    }
    assert (found["web"]["noverify"], found["mail"]["noverify"]) == ("true", "")
    assert found["nobody"]["extra"] == {}


def test_secrets_do_not_appear(tmp_path: Path) -> None:
    found = shapes(tmp_path)

    assert b"tiger" not in encode(found)
    assert found["notifier"]["web"]["url-open"] == "https://***@example.com/open?token=***&a=***"
    assert found["notifier"]["web"]["extra"] == {"api_key": "***", "app": "burrow"}


def test_zookeeper_is_shown_when_there_is_one(tmp_path: Path) -> None:
    (tmp_path / "open.tmpl").write_text("")
    used = load_text(tmp_path, CONFIG.replace("{folder}", str(tmp_path)), {})
    absent = load_text(tmp_path, "", {})

    assert v3_config.main_answers(used.config)["zookeeper"] == {
        "servers": ("zk1:2181",),
        "timeout": 6,
        "root-path": "/burrow",
    }
    nothing = {"servers": None, "timeout": 0, "root-path": ""}
    assert v3_config.main_answers(absent.config)["zookeeper"] == nothing
