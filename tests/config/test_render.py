"""`check-config`'s text: every value, its origin, no secret. And no secret in a log line either."""

import pickle
import tomllib
from pathlib import Path

import pytest
from support.config_files import MINIMAL, load_text, problems_of

from warren.config import FrozenMap, Secret, render_effective
from warren.config.secrets import is_secretive, masked_url

SECRETS = """
client-profile = "p"
[client-profile.p]
sasl = "s"
[sasl.s]
username = "scott"
password = "tiger"
[zookeeper]
servers = ["zk:2181"]
[spark.conf]
"spark.hadoop.fs.s3a.secret.key" = "tiger"
"spark.ssl.keyPassword" = "tiger"
"spark.driver.extraJavaOptions" = "-Dproxy.password=tiger"
[notifier.n]
class-name = "http"
url-open = "https://scott:tiger@example.com/x?token=tiger&group={{.Group}}"
template-open = "TEMPLATE"
username = "scott"
password = "tiger"
extras = { api_key = "tiger", app = "burrow" }
headers = { Authorization = "Bearer tiger", X-Auth-Token = "tiger", X-Origin = "warren" }
"""


@pytest.fixture
def secrets(tmp_path: Path) -> str:
    (tmp_path / "template").write_text("")
    return MINIMAL + SECRETS.replace("TEMPLATE", str(tmp_path / "template"))


def test_every_value_is_shown_with_its_origin(tmp_path: Path) -> None:
    text = MINIMAL + 'group-whitelist = "x"\n'
    environ = {"BURROW_STORAGE_DEFAULT_INTERVALS": "15"}

    lines = [
        " ".join(line.split())
        for line in render_effective(load_text(tmp_path, text, environ)).splitlines()
    ]

    expected = [
        "[cluster.local]",
        'servers = ["localhost:9092"] # file',
        "offset-refresh = 10 # default",
        'group-allowlist = "x" # file, as group-whitelist',
        "intervals = 15 # environment BURROW_STORAGE_DEFAULT_INTERVALS",
        'address = ":0" # default',
        'level = "info" # default',
    ]
    assert [line for line in expected if line not in lines] == []


def test_what_is_shown_is_toml_that_loads_to_the_same(tmp_path: Path) -> None:
    text = MINIMAL + '[cluster."a.b"]\nclass-name = "kafka"\nservers = "h:1"\ntopic-refresh = 7\n'
    first = load_text(tmp_path, text)

    shown = render_effective(first)

    assert tomllib.loads(shown)["cluster"]["a.b"]["topic-refresh"] == 7
    assert load_text(tmp_path, shown).config == first.config


def test_only_what_differs_from_the_defaults_can_be_shown(tmp_path: Path) -> None:
    text = MINIMAL + (
        '[storage.default]\nclass-name = "inmemory"\nintervals = 10\nmin-distance = 3\n'
        '[history]\n[logging]\nlevel = "info"\n'
    )
    loaded = load_text(tmp_path, text, {"BURROW_GENERAL_STATE_DIR": "/var/lib/warren"})

    shown = render_effective(loaded, changed=True)

    tables = tomllib.loads(shown)
    assert tables["general"] == {"state-dir": "/var/lib/warren"}
    assert tables["storage"] == {"default": {"class-name": "inmemory", "min-distance": 3}}
    assert tables["history"] == {}
    assert "logging" not in tables
    assert "httpserver" not in tables
    assert load_text(tmp_path, shown).config == loaded.config


def test_no_secret_is_shown(tmp_path: Path, secrets: str) -> None:
    loaded = load_text(tmp_path, secrets)

    shown = render_effective(loaded)

    assert "tiger" not in shown
    assert 'username = "scott"' in shown
    assert 'url-open = "https://***@example.com/x?token=***&group={{.Group}}"' in shown
    assert '"app" = "burrow"' in shown
    assert '"x-origin" = "warren"' in shown


def test_a_configuration_that_gets_into_a_log_line_keeps_its_passwords(
    tmp_path: Path, secrets: str
) -> None:
    config = load_text(tmp_path, secrets).config
    sasl, notifier = config.sasl["s"], config.notifiers["n"]

    for text in (repr(sasl), f"{sasl.password}", repr(notifier.extras), f"{config.spark.conf}"):
        assert "tiger" not in text
    assert sasl.password.reveal() == "tiger"
    assert notifier.extras["api_key"] == "tiger"


def test_a_bad_secret_is_not_told(tmp_path: Path) -> None:
    text = '[sasl.s]\npassword = ["tiger"]\n'
    used = MINIMAL + 'client-profile = "p"\n[client-profile.p]\nsasl = "s"\n' + text

    problems = problems_of(tmp_path, used)

    assert "sasl.s.password: *** is not allowed; must be a text" in problems


def test_a_free_map_that_is_no_map_is_not_told(tmp_path: Path, secrets: str) -> None:
    environ = {
        "BURROW_NOTIFIER_N_HEADERS": "Authorization: tiger",
        "BURROW_NOTIFIER_N_EXTRAS": '{"api_key": ["tiger"]}',
        "BURROW_SPARK_CONF": "spark.ssl.keyPassword=tiger",
    }

    problems = problems_of(tmp_path, secrets, environ)

    assert problems == [
        f"{key}: *** (from environment {variable}) is not allowed; must be a table of texts"
        for key, variable in {
            "notifier.n.extras": "BURROW_NOTIFIER_N_EXTRAS",
            "notifier.n.headers": "BURROW_NOTIFIER_N_HEADERS",
            "spark.conf": "BURROW_SPARK_CONF",
        }.items()
    ]


def test_urls_hide_what_lets_one_in() -> None:
    cases = {
        "http://example.com/v1": "http://example.com/v1",
        "http://u:p@example.com": "http://***@example.com",
        "https://hooks.slack.com/services/T0/B0/XXX": "https://hooks.slack.com/services/***",
        "https://x.webhook.office.com/webhookb2/G@T/IncomingWebhook/S/O": (
            "https://x.webhook.office.com/webhookb2/***"
        ),
        "https://discord.com/api/webhooks/1/S": "https://discord.com/api/***",
        "https://e.com/?api_key=1&x=2": "https://e.com/?api_key=***&x=***",
        "https://e.com/a?group={{.Group}}&S": "https://e.com/a?group={{.Group}}&***",
        "https://prod-1.logic.azure.com:443/workflows/W/triggers/manual/paths/invoke?sp=x&sig=S": (
            "https://prod-1.logic.azure.com:443/workflows/***?sp=***&sig=***"
        ),
        "https://api.telegram.org/bot123:S/sendMessage": "https://api.telegram.org/***/***",
        "https://hooks.slack.com/triggers/T0/1/S": "https://hooks.slack.com/triggers/***",
        "https://events.pagerduty.com/integration/S/enqueue": (
            "https://events.pagerduty.com/integration/***"
        ),
        "https://alert.victorops.com/integrations/generic/20131114/alert/S/team": (
            "https://alert.victorops.com/integrations/***"
        ),
        "https://outlook.office.com/webhook/S@T/IncomingWebhook/O": (
            "https://outlook.office.com/webhook/***"
        ),
        "https://e.com/0a1b2c3d4e5f6a7b8c9d": "https://e.com/***",
        "https://e.com/hook#S": "https://e.com/hook#***",
        "^(a|services/b)$": "^(a|services/b)$",
    }

    assert {url: masked_url(url) for url in cases} == cases


def test_keys_that_name_a_secret_are_recognised() -> None:
    secretive = (
        "key api_key apikey X-Api-Key token auth-token PASSWORD db.password secret Authorization"
        " passphrase bearer jwt"
    )
    plain = "app tier keyboard author monkey fabric passage group"

    assert [key for key in secretive.split() if not is_secretive(key)] == []
    assert [key for key in plain.split() if is_secretive(key)] == []


def test_a_loaded_configuration_travels_to_other_processes(tmp_path: Path, secrets: str) -> None:
    config = load_text(tmp_path, secrets).config

    assert pickle.loads(pickle.dumps(config)) == config  # noqa: S301  our own bytes


def test_maps_and_secrets_can_be_compared_and_hashed() -> None:
    assert FrozenMap({"a": "b"}) == {"a": "b"}
    assert len({FrozenMap({"a": "b"}), FrozenMap({"a": "b"})}) == 1
    assert len({Secret("a"), Secret("a"), Secret("b")}) == 2
    assert Secret("a") != "a"
    assert not Secret()
