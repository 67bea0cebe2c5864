"""The documentation of every key, written from the types so that it cannot be wrong.

python -m warren.config.document > docs/configuration.md
python -m warren.config.document toml > config/burrow.toml
"""

import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping

from warren.config.coerce import allowed
from warren.config.keys import Key, keys_of
from warren.config.kinds import NAMED, SINGLE
from warren.config.notifiers import Notifier
from warren.config.prose import ABOUT, CONFIGURATION, SAMPLE
from warren.config.secrets import FrozenMap, Secret, shown
from warren.config.sections import Section
from warren.config.sinks import Sink

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
