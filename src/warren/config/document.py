"""The documentation of every key, written from the types so that it cannot be wrong.

python -m warren.config.document > docs/configuration.md
python -m warren.config.document toml > config/burrow.toml
"""

import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping

from warren.config.config import NAMED, SINGLE
from warren.config.keys import Key, keys_of
from warren.config.notifiers import Notifier
from warren.config.secrets import FrozenMap, Secret, shown
from warren.config.sections import Section
from warren.config.sinks import Sink
from warren.config.values import allowed

CONFIGURATION = """\
# Configuration

Warren reads Burrow's configuration: a `burrow.toml` that starts Burrow starts Warren, apart from
values that Burrow takes without a word and cannot use, see
[differences](differences.md#configuration-and-process); there too is what this version does not do
yet. [config/burrow.toml](../config/burrow.toml) shows every key with its default. This page and
that file are written from the types by `python -m warren.config.document`.

`warren check-config` prints the configuration in effect, with where each value came from and with
secrets masked, and exits 1 if anything is wrong.

**The file.** `--config-dir` names a directory, `--config` a file. In a directory the first of
`burrow.json`, `burrow.toml`, `burrow.yaml`, `burrow.yml`, `burrow.dotenv` and `burrow.env` is read.
In the dotenv formats dots make the sections: `storage.default.intervals=15`.

**Case.** Names of sections and keys are the same in any case, and so are names that refer to a
section. Values keep their case. Only the keys in `spark.conf` keep theirs, and their dots need no
quotes.

**Types.** A list may be written as a text, separated by spaces. Numbers and booleans may be written
as texts; one that cannot be read is an error (Burrow takes it for 0).

**Environment.** A variable overrides a key of the file: `BURROW_` and the path of the key in upper
case, with `_` for `.` and `-`, as in `BURROW_STORAGE_DEFAULT_MIN_DISTANCE=1`. Empty variables are
ignored, lists are separated by spaces, tables are JSON objects. A variable cannot make a section:
`[cluster.x]` has to be in the file for `BURROW_CLUSTER_X_SERVERS` to count. Only `tls`, `sasl` and
`iam` sections that the file refers to may be left to the environment. `env-var-prefix` changes
`BURROW`.

**What is wrong** is told all at once, one line each, and nothing starts. An unknown key or section
is a warning, as Burrow ignores it; `warren check-config --strict` takes it for a problem. Problems
in sections that nothing refers to are warnings, as Burrow never looks there. So is a configuration
without any cluster, and a section that this version does nothing with yet.

**Files.** A relative path, of a template or any other file, starts at the working directory of
Warren, as in Burrow, and not at the directory of the configuration.

**Old names.** `group-whitelist` and `group-blacklist` work, with a warning.

**Left out.** A storage, an evaluator and an HTTP server that are not in the file are made up under
the name `default`; the HTTP server then takes any free port."""

SAMPLE = """\
# Every key of Warren's configuration, which is Burrow's, with its default.
# Keys that start with # have no default, or are in a section that is not used here.
# docs/configuration.md says how this file is found and what the environment can override."""

ABOUT = {
    "general": "The process.",
    "logging": "Log lines, one JSON object each.",
    "zookeeper": "Only with a notifier: where instances of Warren agree on the one that notifies.",
    "spark": "Warren's own: the Spark session that reads, decodes and keeps history.",
    "metrics": "Warren's own: how many series `/metrics` has.",
    "history": "Warren's own: what is kept of the past; nothing without this section or a sink.",
    "client-profile": "How to connect to Kafka; clusters and consumers name one.",
    "tls": "Certificates; client profiles, ZooKeeper, HTTP servers and sinks name one.",
    "sasl": "A log-in; client profiles name one.",
    "iam": "A log-in to AWS MSK; client profiles name one.",
    "cluster": "A Kafka cluster whose topics and log ends are read.",
    "consumer": "Where the commits of a cluster's groups are read.",
    "storage": "The history of commits that verdicts are made from. At most one.",
    "evaluator": "How verdicts are made. At most one.",
    "httpserver": "Where the HTTP API listens.",
    "notifier": "Who is told about bad groups, and how; see [notifiers](notifiers.md).",
    "http": "A request to a URL with a body made by a template, and what every notifier has.",
    "slack": "A message in a channel of Slack; templates are not needed.",
    "alertmanager": "An alert in Prometheus' Alertmanager; `extras` are its labels.",
    "email": "A mail made by a template that begins with `Subject: `, and what every notifier has.",
    "sink": "Warren's own: where history goes on to, moment by moment. See docs/sinks.md.",
    "influxdb": "Points as Telegraf's burrow input writes them, and what every sink has.",
    "elasticsearch": "Documents as Telegraf writes them, to Elasticsearch 7 to 9 and OpenSearch.",
    "parquet": "The rows of history, as Parquet files elsewhere.",
    "delta": "The rows of history, in a Delta table elsewhere.",
    "console": "A table of the worst groups on stdout, for a look.",
}


# Sections of the sample that are in use; the rest stand there as comments.
_IN_USE = {
    "general": "",
    "logging": "",
    "spark": "",
    "metrics": "",
    "client-profile": "local",
    "cluster": "local",
    "consumer": "local",
    "storage": "default",
    "evaluator": "default",
    "httpserver": "default",
}
_COMMON: dict[str, type[Section]] = {"notifier": Notifier, "sink": Sink}
_EXAMPLE_NAMES = {"tls": "mytls", "sasl": "mysasl", "iam": "myiam"}


def markdown() -> str:
    """Write docs/configuration.md."""
    parts = [CONFIGURATION]
    for heading, about, keys, classes in _chapters():
        parts.append(f"## {heading}\n\n{ABOUT[about]}\n\n{_table(keys, classes)}")
    return "\n\n".join(parts) + "\n"


def toml() -> str:
    """Write config/burrow.toml, which documents and at the same time is a configuration."""
    parts = [SAMPLE]
    for kind, struct in SINGLE.items():
        parts.append(_sample(kind, kind, keys_of(struct)))
    for kind, classes in NAMED.items():
        parts += _samples(kind, classes)
    return "\n\n".join(parts) + "\n"


def _chapters() -> Iterator[tuple[str, str, list[Key], Iterable[str]]]:
    for kind, struct in SINGLE.items():
        yield f"`[{kind}]`", kind, list(keys_of(struct)), ()
    for kind, classes in NAMED.items():
        struct = _COMMON.get(kind) or next(iter(classes.values()))
        yield f"`[{kind}.NAME]`", kind, list(keys_of(struct)), classes
        if kind in _COMMON:
            yield from _chapters_of_classes(kind)


def _chapters_of_classes(kind: str) -> Iterator[tuple[str, str, list[Key], Iterable[str]]]:
    """What a class has beyond what all of its kind have."""
    common = {key.name for key in keys_of(_COMMON[kind])}
    for class_name, struct in NAMED[kind].items():
        own = [key for key in keys_of(struct) if key.name not in common]
        if own:
            yield f"`[{kind}.NAME]` of class `{class_name}`", class_name, own, ()


def _table(keys: list[Key], classes: Iterable[str]) -> str:
    rows = ["| key | default | accepts | meaning |", "|---|---|---|---|"]
    for key in keys:
        accepts = allowed(key.type, key.annotations)
        if key.name == "class-name":
            accepts = " or ".join(f"`{name}`" for name in classes)
        cells = (f"`{key.name}`", _default(key), accepts, _meaning(key))
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


def _default(key: Key) -> str:
    if key.is_required or key.name == "class-name":
        return "required"
    if "default" in key.extra:
        return key.extra["default"]
    return f"`{shown(key.default)}`" if has_default(key) else "none"


def has_default(key: Key) -> bool:
    """Say whether leaving a key out gives it a value; an empty text, list or table is none."""
    return not key.is_required and key.default not in (None, "", (), Secret(), FrozenMap())


def _meaning(key: Key) -> str:
    notes = [key.description]
    if "formerly" in key.extra:
        notes.append(f"Formerly `{key.extra['formerly']}`, which still works.")
    if key.file_name:
        notes.append(f"Or `{key.file_name}`, the path of a file that holds it.")
    if "unused" in key.extra:
        notes.append(f"Accepted and not used: {key.extra['unused']}.")
    if "file_only" in key.extra:
        notes.append(f"Not from the environment: {key.extra['file_only']}.")
    return " ".join(notes)


def _samples(kind: str, classes: Mapping[str, type[Section]]) -> Iterator[str]:
    """Write a section for each class-name: the first in full, the rest with what is their own."""
    told: set[str] = set()
    for class_name, struct in classes.items():
        keys = [key for key in keys_of(struct) if key.name not in told]
        if any(key.name != "class-name" for key in keys):
            name = _IN_USE.get(kind) or _EXAMPLE_NAMES.get(kind) or class_name
            yield _sample(kind, f"{kind}.{name}", keys, class_name)
        if not told:
            every = [{key.name for key in keys_of(each)} for each in classes.values()]
            told = set.intersection(*every) - {"class-name"}


def _sample(kind: str, path: str, keys: Iterable[Key], class_name: str = "") -> str:
    about = ABOUT.get(class_name, ABOUT[kind])
    lines = [*_comment(about), f"[{path}]" if kind in _IN_USE else f"#[{path}]"]
    for key in keys:
        is_set = kind in _IN_USE and (key.is_required or has_default(key))
        value = f'"{class_name}"' if key.name == "class-name" else _value(key)
        lines += ["", *_comment(_meaning(key)), f"{'' if is_set else '#'}{key.name} = {value}"]
    return "\n".join(lines)


def _value(key: Key) -> str:
    if has_default(key):
        return shown(key.default)
    example = key.extra["example"]
    return shown(example) if key.type in {str, Secret} else example


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, 98, initial_indent="# ", subsequent_indent="# ")


if __name__ == "__main__":
    sys.stdout.write(toml() if sys.argv[1:] == ["toml"] else markdown())
