"""Policies and silences as an operator writes them."""

from pathlib import Path

import pytest
from support.config_files import MINIMAL

from warren.config import explain_policy, load
from warren.errors import ConfigError
from warren.model.policies import Policy
from warren.model.schedules import read_schedule
from warren.model.silence import Silence

POLICIES = """
[notifier.slack]
class-name = "slack"
webhook-url = "https://hooks.example.com/x"

[policy.zebra]
clusters = ["local", "prod-.*"]
groups = ["billing"]
topics = "orders bills"
allowed-lag = 10
max-time-lag = 300
grace = "2m"
schedule = "mon-fri 08:00-18:00"
time-zone = "Europe/Berlin"
pages = ["stop", "LOST"]
owner = "team-payments"
notify = ["Slack"]
isolation = "read-committed"

[policy.ape]
groups = ["test-.*"]
ignore = true
pages = []

[policy.rest]
schedule = "10m"
"""


def write(directory: Path, text: str, name: str = "burrow.toml") -> Path:
    file = directory / name
    file.write_text(text)
    return file


def problems(file: Path) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(file, {})
    return list(caught.value.problems)


def test_policies_are_in_the_order_of_the_file(tmp_path: Path) -> None:
    config = load(write(tmp_path, MINIMAL + POLICIES), {}).config

    zebra, ape, rest = config.group_policies()

    assert zebra == Policy(
        name="zebra",
        clusters=("local", "prod-.*"),
        groups=("billing",),
        topics=("orders", "bills"),
        allowed_lag=10,
        max_time_lag_s=300,
        grace_s=120,
        schedule=read_schedule("mon-fri 08:00-18:00", "Europe/Berlin"),
        pages=frozenset({"STOP", "LOST"}),
        owner="team-payments",
        notify=("slack",),
        isolation="read-committed",
    )
    assert ape == Policy("ape", groups=("test-.*",), ignore=True, pages=frozenset())
    assert rest == Policy("rest", schedule=read_schedule("10m"))


def test_every_form_of_a_file_means_the_same(tmp_path: Path) -> None:
    forms = {
        "a.toml": '[policy.b]\ngroups = ["x", "y"]\ngrace = 60\n[policy.a]\nignore = true\n',
        "a.yaml": "policy:\n  b: {groups: [x, y], grace: 60}\n  a:\n    ignore: true\n",
        "a.json": '{"policy": {"b": {"groups": ["x", "y"], "grace": 60}, "a": {"ignore": true}}}',
        "a.env": "policy.b.groups=x y\npolicy.b.grace=60\npolicy.a.ignore=true\n",
    }

    found = {name: load(write(tmp_path, text, name), {}).config for name, text in forms.items()}

    expected = [Policy("b", groups=("x", "y"), grace_s=60), Policy("a", ignore=True)]
    assert {
        name: [each.policy() for each in config.policies.values()] for name, config in found.items()
    } == dict.fromkeys(forms, expected)


def test_a_variable_overrides_a_policy(tmp_path: Path) -> None:
    file = write(tmp_path, MINIMAL + POLICIES)

    config = load(file, {"BURROW_POLICY_ZEBRA_GROUPS": "a b.*"}).config

    assert config.policies["zebra"].groups == ("a", "b.*")


MISTAKES = {
    ".toml": """
[policy.a]
groups = ["("]
pages = ["STOPP"]
notify = ["nobody"]
max-time-leg = 3
[policy."b"]
time-zone = "Mars/Base"
schedule = "mon 25:00-26:00"
allowed-lag = -1
grace = "1x"
[silence.x]
[silence.y]
begin = 2026-12-01T08:00:00Z
end = "2026-11-01"
hours = "10m"
[cluster.local]
class-name = "kafka"
servers = ["localhost:9092"]
""",
    ".yaml": """
policy:
  a:
    groups: ["("]
    pages: [STOPP]
    notify: nobody
    max-time-leg: 3
  b:
    time-zone: Mars/Base
    schedule: "mon 25:00-26:00"
    allowed-lag: -1
    grace: 1x
silence:
  x:
  y:
    begin: 2026-12-01T08:00:00Z
    end: 2026-11-01
    hours: 10m
cluster:
  local: {class-name: kafka, servers: ["localhost:9092"]}
""",
}


@pytest.mark.parametrize("form", MISTAKES)
def test_all_mistakes_are_listed_with_their_lines(tmp_path: Path, form: str) -> None:
    text = MISTAKES[form]
    lines = [line.partition("=")[0].partition(":")[0].strip() for line in text.splitlines()]

    found = problems(write(tmp_path, text, f"burrow{form}"))

    expected = {
        f"policy.{name}.{key}": lines.index(key) + 1
        for name, keys in {
            "a": ("groups", "pages", "notify", "max-time-leg"),
            "b": ("time-zone", "schedule", "allowed-lag", "grace"),
        }.items()
        for key in keys
    }
    of_silences = {"silence.y.end": lines.index("end") + 1}
    of_silences["silence.y.hours"] = lines.index("hours") + 1
    header = "[silence.x]" if form == ".toml" else "x"
    of_silences["silence.x.end"] = lines.index(header) + 1
    assert {
        each.partition(": ")[0]: int(each.rpartition("(line ")[2].removesuffix(")"))
        for each in found
    } == expected | of_silences


def test_silences(tmp_path: Path) -> None:
    text = """
[silence.upgrade]
groups = ["billing.*"]
owners = "team-payments"
end = 2026-12-01T08:00:00+01:00
comment = "database upgrade"
[silence.sundays]
hours = "sun 02:00-04:00"
"""

    config = load(write(tmp_path, MINIMAL + text), {}).config
    silences = {name: each.silence() for name, each in config.silences.items()}

    assert silences["upgrade"] == Silence(
        id="upgrade",
        groups=("billing.*",),
        owners=("team-payments",),
        end_s=1_796_108_400,
        comment="database upgrade",
        author="configuration",
    )
    assert silences["sundays"].hours == "sun 02:00-04:00"
    assert silences["sundays"].end_s is None


def test_explaining_says_which_policy_holds_and_why(tmp_path: Path) -> None:
    config = load(write(tmp_path, MINIMAL + POLICIES), {}).config

    of_all = explain_policy(config, "billing", ()).splitlines()
    of_one = explain_policy(config, "test-billing", ("orders",)).splitlines()

    matches = "cluster matches local, group matches billing"
    assert of_all == [
        "group 'billing' in cluster 'local':",
        f"  topics that match orders, bills: policy zebra ({matches})",
        "  any other topic: policy rest (any cluster, any group)",
    ]
    assert of_one == [
        "group 'test-billing' in cluster 'local':",
        "  topic 'orders': policy ape (any cluster, group matches test-.*, any topic)",
        "    not zebra: group 'test-billing' matches none of billing",
    ]


def test_without_a_policy_the_defaults_hold(tmp_path: Path) -> None:
    config = load(write(tmp_path, MINIMAL), {}).config

    assert explain_policy(config, "g", ("t",)).endswith("topic 't': no policy; the defaults hold")
    assert explain_policy(config, "g", ()).endswith("any other topic: no policy; the defaults hold")


def test_a_file_of_policies_alone_can_be_read(tmp_path: Path) -> None:
    loaded = load(write(tmp_path, '[policy.p]\nnotify = ["elsewhere"]\n'), {})

    assert loaded.config.group_policies() == [Policy("p", notify=("elsewhere",))]
