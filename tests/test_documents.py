"""Every example in README and docs is run; what cannot be run here is listed with the reason.

The documents speak of a Warren at localhost:8000 with a cluster `local` and a group `billing`, and
of a configuration in /etc/burrow. Here both are real, and somewhere else.
"""

import json
import os
import re
import shutil
import subprocess
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import httpx
import pytest
import yaml
from click.testing import CliRunner
from pyspark.sql import SparkSession
from support.boards import NOW_S, board, cluster_board, windows_of, with_words
from support.certificates import make_certificates
from support.command_line import ask, of
from support.config_files import MINIMAL
from support.examples import DOCUMENTS, ROOT, SHELL, Command, commands, examples
from support.history_rows import group, log_end, partition, write
from support.http_side import CONFIG, running
from support.keeping import Keeping

from warren import config
from warren.cli import main
from warren.errors import ConfigError
from warren.notify.rehearsal import rehearse

# By the first word: why it is not run. The files that such a command names are there all the same.
NOT_RUN = {
    "./check": "is what runs this test",
    "./fuzz": "takes as long as one lets it",
    "requirements/compile": "asks a package index",
    "PYTHONPATH=deploy/grafana": "is run by tests/deploy/test_made.py",
    "git": "fetches this repository, and starts ./warren demo: tests/demo does",
    "cd": "is about a place on another machine",
    "cp": "is for root",
    "systemctl": "is for root",
    "uv": "asks a package index",
    "pip": "asks a package index",
    "docker": "needs a container engine",
    "kubectl": "needs a Kubernetes cluster",
    "kafka-acls.sh": "needs Kafka's own tools; tests/e2e/test_access.py grants these rights",
}
# In docs/spark-jobs.md; tests/serve/v4/test_offsets.py runs it, on a Warren that takes reports.
REPORTS = "/v4/offsets"
# Commands of Warren that are only parsed, as click does it.
PARSED = {
    "serve": "goes on until it is stopped",
    "demo": "starts a broker; tests/demo does",
    "backtest": "starts Spark; tests/terminal/test_backtest_command.py does, in another process",
    "top": "needs a terminal; tests/terminal/test_top.py has one",
    "notify-test": "sends a message to a receiver that the document invents",
    "--bootstrap": "needs a broker; tests/terminal/test_direct.py has one; so does --config-dir",
    "--watch": "goes on until it is stopped",
}
RUN = {"toml", "toml telegraf", "yaml", "json", "python", "fish", "text", *SHELL}
EXITS = {"status": {0, 3, 4}, "lag": {0, 3, 4}}


class Place(NamedTuple):
    """What the documents speak of."""

    url: str
    etc: Path  # their /etc/burrow
    history: Path


@pytest.fixture(scope="module")
def place(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("documents")
    etc, history = folder / "etc", folder / "history"
    now_ms = int(time.time()) * 1000
    write(
        spark,
        history,
        {
            now_ms - minutes * 60_000: [
                group("billing", 3, 90),
                partition("billing", "orders", 3, 4, 90),
                log_end("orders", 3, 500 - minutes),
            ]
            for minutes in (30, 20, 10)
        },
    )
    _configure(etc, history)
    ends: dict[str, list[int | None]] = {"orders": [500] * 4}
    commits = [
        ("billing", "orders", number, 410, (NOW_S - 10 * (9 - at)) * 1000)
        for number in range(4)
        for at in range(10)
    ]
    windows = windows_of(ends, commits)
    judged = with_words(cluster_board(windows, ends), windows, {})
    with running(folder, CONFIG + "[history]\n", Keeping(history)) as started:
        started.publish(board(local=judged))
        yield Place(of(started), etc, history)


def _configure(etc: Path, history: Path) -> None:
    """The policies of docs/policies.md, so that its answers are those of the command."""
    (policies,) = [each for each in examples("toml") if "[policy.audit]" in each.text]
    etc.mkdir()
    sections = [
        re.sub(r"\blocal\b", "prod-eu", MINIMAL),
        policies.text,
        '[notifier.pager]\nclass-name = "slack"\nwebhook-url = "http://h/"\n',
        f'[history]\ndirectory = "{history}"\n',
    ]
    (etc / "burrow.toml").write_text("\n".join(sections))


def test_every_block_says_what_it_is() -> None:
    assert [each.where for each in examples() if each.language not in RUN] == []
    assert len(examples("toml")) > 20


# Configuration.

CONTEXT = {
    "cluster": '[cluster.NAME]\nclass-name = "kafka"\nservers = ["h:1"]\n',
    "client-profile": "[client-profile.NAME]\n",
    "tls": "[tls.NAME]\n",
    "notify": '[notifier.NAME]\nclass-name = "slack"\nwebhook-url = "http://h/"\n',
    "notifier-cluster": '[cluster.NAME]\nclass-name = "kafka"\nservers = ["h:1"]\n',
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate and a password for examples that name such files."""
    folder = tmp_path_factory.mktemp("files")
    make_certificates(folder / "ca.pem")
    for example in examples("toml"):
        for name in re.findall(r"/run/secrets/([\w-]+)", example.text):
            (folder / name).write_text(f"a secret for {name}\n")
    return folder


def test_every_configuration_is_accepted(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)  # where config/default-email.tmpl is
    problems = {}
    for example in examples("toml"):
        text = re.sub("/etc/warren|/run/secrets", str(files), example.text)
        (files / "burrow.toml").write_text(f"{text}\n{_context(tomllib.loads(text))}")
        try:
            loaded = config.load(files / "burrow.toml", {})
            rehearse(loaded)
        except ConfigError as error:
            problems[example.where] = error.problems
        else:
            problems |= {example.where: loaded.unknown} if loaded.unknown else {}

    assert problems == {}


def _context(tables: dict[str, Any]) -> str:
    """The sections that an example refers to and leaves out."""
    sections = [each for kind in tables.values() for each in (kind, *_inner(kind))]
    named = {
        (key, name)
        for section in sections
        for key in CONTEXT.keys() & section.keys()
        for name in ([section[key]] if isinstance(section[key], str) else section[key])
    }
    of_kind = {"notify": "notifier", "notifier-cluster": "cluster"}
    texts = {
        CONTEXT[key].replace("NAME", name)
        for key, name in named
        if name not in tables.get(of_kind.get(key, key), {})
    }
    return "\n".join(sorted(texts))


def _inner(kind: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in kind.values() if isinstance(each, dict)]


# Data.


def test_data_can_be_parsed() -> None:
    for example in examples("yaml"):
        assert yaml.safe_load(example.text), example.where
    for example in examples("json"):
        assert json.loads(example.text), example.where
    for example in examples("toml telegraf"):
        assert tomllib.loads(example.text)["inputs"]["burrow"][0]["servers"], example.where


def test_an_autoscaler_finds_what_its_example_names(place: Place) -> None:
    (scaled,) = [each.text for each in examples("yaml") if "metrics-api" in each.text]
    trigger = yaml.safe_load(scaled)["spec"]["triggers"][0]["metadata"]

    answer = httpx.get(place.url + re.sub("^http://[^/]+", "", trigger["url"]))

    assert isinstance(answer.json()[trigger["valueLocation"]], int)


def test_python_runs(spark: SparkSession, place: Place) -> None:
    """Reports, and the listener in a job, have tests of their own."""
    for example in examples("python"):
        code = example.text.replace("/var/lib/warren/history", str(place.history)).strip()
        compile(code, example.where, "exec")
        if code.startswith("spark.read"):
            found = eval(code, {"spark": spark})  # noqa: S307  # our own document
            assert found.count() == 3, example.where


# Commands.


def test_every_command_of_warren_works(place: Place, tmp_path: Path) -> None:
    wrong: dict[str, str] = {}
    for command in commands():
        words = _without_environment(command.words)
        if words[0] in {"warren", "./warren"}:
            problem = _run_warren(words[1:], command, place, tmp_path)
            wrong |= {f"{command.where} {' '.join(words)}": problem} if problem else {}

    assert wrong == {}


def _without_environment(words: list[str]) -> list[str]:
    return [*words[[bool(re.match("[A-Z_]+=", word)) for word in words].index(False) :]]


def _run_warren(words: list[str], command: Command, place: Place, folder: Path) -> str:
    words, piped = _until(words, {"|", ">"})
    words = [re.sub("^/etc/burrow$", str(place.etc), word) for word in words]
    words = [re.sub("^http://.*:800[01]$", place.url, word) for word in words]
    if words[0] == "--config-dir":  # as Burrow
        words = ["serve", *words]
    reads_itself = words[0] in {"status", "lag"} and "--config-dir" in words
    if PARSED.keys() & set(words) or reads_itself:
        return _parse(words)
    at = place.etc if words[0] == "check-config" else folder
    before = Path.cwd()
    os.chdir(at)
    try:
        done = ask(*words, WARREN_URL=place.url)
    finally:
        os.chdir(before)
    if done.exit_code not in EXITS.get(words[0], {0}):
        return f"{done.exit_code}: {done.stderr}"
    if missing := [line for line in command.shows if line not in done.stdout]:
        return f"does not print {missing}"
    if piped[:1] == ["|"] and shutil.which(piped[1]):
        filtered = subprocess.run(piped[1:], input=done.stdout, text=True, capture_output=True)  # noqa: PLW1510
        return filtered.stderr if filtered.returncode or not filtered.stdout else ""
    return "" if done.stdout else "it prints nothing"


def _until(words: list[str], ends: set[str]) -> tuple[list[str], list[str]]:
    at = next((number for number, word in enumerate(words) if word in ends), len(words))
    return words[:at], words[at:]


def _parse(words: list[str]) -> str:
    command = main.commands[words[0]]
    try:
        command.make_context(
            words[0], [*words[1:]], parent=click.Context(main, **main.context_settings)
        )
    except click.UsageError as error:
        return error.format_message()
    return ""


def test_every_request_is_answered(place: Place) -> None:
    wrong, silence = {}, "no silence was added"
    with httpx.Client(timeout=60) as client:
        for command in commands():
            if command.words[0] != "curl" or f"localhost:8000{REPORTS}" in command.words:
                continue
            request = _request(command.words[1:], place.url, silence)
            with client.stream(**request) as answer:
                if "/v4/events" not in request["url"]:  # it has no end
                    answer.read()
                    if request["method"] == "POST":
                        silence = answer.json()["silence"]["id"]
                if not answer.is_success:
                    wrong[f"{command.where} {request['url']}"] = answer.status_code

    assert wrong == {}


def _request(words: list[str], url: str, silence: str) -> dict[str, Any]:
    """As curl would send it."""
    request: dict[str, Any] = {"method": "GET", "url": "", "headers": {}}
    rest = iter(words)
    for word in rest:
        if word == "-X":
            request["method"] = next(rest)
        elif word == "-H":
            name, value = next(rest).split(": ")
            request["headers"][name] = value
        elif word == "-d":
            request |= {"method": "POST", "content": next(rest)}
        elif not word.startswith("-"):
            there = word.removeprefix("http://").removeprefix("localhost:8000")
            request["url"] = url + re.sub("(?<=silences/).*", silence, there)
    return request


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_the_shell_gets_its_completion(shell: str) -> None:
    (text,) = [each.text for each in examples("bash", "fish") if f"{shell}_source" in each.text]

    assert "_WARREN_COMPLETE=" in text
    variable = {"_WARREN_COMPLETE": f"{shell}_source"}
    done = CliRunner().invoke(main, [], prog_name="warren", env=variable)
    assert f"_WARREN_COMPLETE={shell}_complete" in done.stdout


def test_what_is_not_run_has_a_reason_and_its_files_are_there() -> None:
    others = [command for command in commands() if command.words[0] not in {"curl", "eval"}]
    others = [each for each in others if "warren" not in _without_environment(each.words)[0]]
    words = {word for command in others for word in command.words}
    folders = ("deploy/", "tests/", "docs/", "requirements/", "./")

    assert {command.words[0] for command in others} == NOT_RUN.keys()
    assert [word for word in words if word.startswith(folders) and not (ROOT / word).exists()] == []


# Links.


def test_every_link_leads_somewhere() -> None:
    broken = [
        f"{path.relative_to(ROOT)}: {link}"
        for path in DOCUMENTS
        for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text())
        if not link.startswith(("http:", "https:")) and not _leads(path, link)
    ]

    assert broken == []


def _leads(path: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = (path.parent / name).resolve() if name else path
    if not target.exists():
        return False
    return not anchor or anchor in _anchors(target)


def _anchors(path: Path) -> set[str]:
    """Of its headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
