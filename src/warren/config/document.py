"""Writes the documentation of every key from the types, so that the two always agree.

python -m warren.config.document > docs/configuration.md
python -m warren.config.document toml > config/burrow.toml
"""

import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping

from warren.config.config import NAMED, SINGLE
from warren.config.keys import Key, keys_of
from warren.config.modules import Consumer
from warren.config.notifiers import Notifier
from warren.config.secrets import FrozenMap, Secret, shown
from warren.config.sections import Section
from warren.config.sinks import Sink
from warren.config.values import allowed

CONFIGURATION = """\
# Configuration

Warren reads Burrow's configuration: a `burrow.toml` that starts Burrow also starts Warren, except
for values that Burrow accepts silently and cannot use.
[Differences](differences.md#configuration-and-process) lists them, and what this version does not
do yet. [config/burrow.toml](../config/burrow.toml) shows every key with its default.
`python -m warren.config.document` writes this page and that file from the types.

`warren check-config` prints the configuration in effect, with the origin of each value and with
secrets masked, and ends with `OK` and the number of warnings; it exits 1 if anything is wrong.
`--changed` prints only what differs from the defaults.

**The file.** `--config-dir` names a directory, `--config` a file. In a directory, Warren reads
the first of `burrow.json`, `burrow.toml`, `burrow.yaml`, `burrow.yml`, `burrow.dotenv` and
`burrow.env`. In the dotenv formats, dots separate sections and keys:
`storage.default.intervals=15`.

**Case.** Case does not matter in the names of sections and keys, nor in values that name a section.
It matters in all other values, and in the keys of `spark.conf`, whose dots need no quotes.

**Types.** You can write a list as a text, separated by spaces, and numbers and booleans as texts. A
number or boolean that cannot be read is an error (Burrow uses 0 or false).

**Regular expressions** are in RE2's dialect, which is Go's. They may match anywhere in a name; use
`^` and `$` to match a whole name.

**Environment.** A variable overrides a key of the file: `BURROW_` and the path of the key in upper
case, with `_` for `.` and `-`, as in `BURROW_STORAGE_DEFAULT_MIN_DISTANCE=1`. Empty variables are
ignored, lists are separated by spaces, tables are JSON objects. A variable cannot create a section:
`BURROW_CLUSTER_X_SERVERS` has an effect only if the file has `[cluster.x]`. Only `tls`, `sasl` and
`iam` sections that the file refers to can be in the environment alone. `env-var-prefix` changes
`BURROW`.

**Errors.** Warren reports all errors at once, one line each, and does not start. An unknown key or
section is only a warning, because Burrow ignores it; with `warren check-config --strict` it is an
error. Errors in sections that nothing refers to are warnings, because Burrow never reads these. A
configuration without any cluster is a warning too.

**Files.** A relative path, of a template or any other file, starts at Warren's working directory,
as in Burrow, not at the directory of the configuration.

**Old names.** `group-whitelist` and `group-blacklist` work, with a warning.

**Defaults.** If the file has no storage, evaluator or HTTP server, Warren adds one with the name
`default`; the HTTP server then listens on any free port."""

SAMPLE = """\
# Every key of Warren's configuration, which is Burrow's, with its default.
# Keys after a # have no default, or belong to a section that is not used here.
# docs/configuration.md explains how Warren finds this file, and the environment variables."""

ABOUT = {
    "general": "The process.",
    "logging": "Log lines, one JSON object each.",
    "zookeeper": "Only with a notifier: where instances of Warren agree which of them notifies.",
    "spark": "Warren's own: the Spark session that reads and decodes commits and writes history.",
    "metrics": "Warren's own: limits the number of series in `/metrics`.",
    "history": "Warren's own: the history table; written only with this section or a sink.",
    "client-profile": "How to connect to Kafka; clusters and consumers refer to it by name.",
    "tls": "Certificates; client profiles, ZooKeeper, HTTP servers and sinks refer to it by name.",
    "sasl": "A log-in; client profiles refer to it by name.",
    "iam": "A log-in to AWS MSK; client profiles refer to it by name.",
    "cluster": "A Kafka cluster whose topics and log ends are read.",
    "consumer": "Where Warren reads the commits of a cluster's groups.",
    "spark_checkpoint": "Spark's streaming queries, which commit nothing to Kafka; see "
    "docs/spark-jobs.md.",
    "storage": "The latest commits of each partition, which verdicts are based on. At most one.",
    "evaluator": "How verdicts are made. At most one.",
    "httpserver": "Where the HTTP API listens.",
    "notifier": "Who gets notifications about bad groups, and how; see [notifiers](notifiers.md).",
    "http": "A request to a URL with a body from a template, and the keys of every notifier.",
    "slack": "A message in a Slack channel; needs no templates.",
    "alertmanager": "An alert in Prometheus' Alertmanager; `extras` are its labels.",
    "email": "A mail from a template that begins with `Subject: `, and the keys of every notifier.",
    "sink": "Warren's own: another system that gets the history. See docs/sinks.md.",
    "influxdb": "Points as Telegraf's burrow input writes them, and the keys of every sink.",
    "elasticsearch": "Documents as Telegraf writes them, to Elasticsearch 7 to 9 and OpenSearch.",
    "parquet": "The rows of history, as Parquet files in another place.",
    "delta": "The rows of history, as a Delta table in another place.",
    "policy": "Warren's own: what holds for some groups and topics, and who has to know. The first "
    "that matches holds, in the order of the file; see docs/policies.md.",
    "silence": "Warren's own: nobody is notified about some groups, for a while or at some hours.",
    "console": "A table of the worst groups on stdout, to try it out.",
}


# Sections of the sample that are in use; the others are comments.
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
_COMMON: dict[str, type[Section]] = {"consumer": Consumer, "notifier": Notifier, "sink": Sink}
_EXAMPLE_NAMES = {
    "tls": "mytls",
    "sasl": "mysasl",
    "iam": "myiam",
    "policy": "mypolicy",
    "silence": "mysilence",
}


def markdown() -> str:
    """Write docs/configuration.md."""
    parts = [CONFIGURATION]
    for heading, about, keys, classes in _chapters():
        parts.append(f"## {heading}\n\n{ABOUT[about]}\n\n{_table(keys, classes)}")
    return "\n\n".join(parts) + "\n"


def toml() -> str:
    """Write config/burrow.toml, which documents every key and is itself a valid configuration."""
    parts = [SAMPLE]
    for kind, struct in SINGLE.items():
        parts.append(_sample(kind, keys_of(struct), about=ABOUT[kind], is_used=kind in _IN_USE))
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
    """Say whether a key has a default; an empty text, list or table does not count."""
    return not key.is_required and key.default not in (None, "", (), Secret(), FrozenMap())


def _meaning(key: Key) -> str:
    notes = [key.description]
    if "formerly" in key.extra:
        notes.append(f"Its old name `{key.extra['formerly']}` still works.")
    if key.file_name:
        notes.append(f"Or `{key.file_name}`: the path of a file that contains it.")
    if "unused" in key.extra:
        notes.append(f"Has no effect: {key.extra['unused']}.")
    if "file_only" in key.extra:
        notes.append(f"Cannot be set in the environment: {key.extra['file_only']}.")
    return " ".join(notes)


def _samples(kind: str, classes: Mapping[str, type[Section]]) -> Iterator[str]:
    """Write a section for each class-name: the first with all keys, the others with their own."""
    shared: set[str] = set()
    in_use = _IN_USE.get(kind, "")
    for class_name, struct in classes.items():
        keys = [key for key in keys_of(struct) if key.name not in shared]
        if any(key.name != "class-name" for key in keys):
            name = in_use or _EXAMPLE_NAMES.get(kind) or class_name
            is_used = bool(in_use) and not shared
            path = f"{kind}.{class_name if in_use and shared else name}"
            yield _sample(
                path, keys, class_name, about=ABOUT.get(class_name, ABOUT[kind]), is_used=is_used
            )
        if not shared:
            every = [{key.name for key in keys_of(each)} for each in classes.values()]
            shared = (every[0] if in_use else set.intersection(*every)) - {"class-name"}


def _sample(
    path: str, keys: Iterable[Key], class_name: str = "", *, about: str, is_used: bool
) -> str:
    lines = [*_comment(about), f"[{path}]" if is_used else f"#[{path}]"]
    for key in keys:
        is_set = is_used and (key.is_required or has_default(key))
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
