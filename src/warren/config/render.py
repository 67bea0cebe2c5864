"""The configuration in effect, for `check-config`: every key, its value, where it came from."""

import re
from collections.abc import Iterable, Iterator

from warren.config.config import OFF_BY_DEFAULT, Config, Loaded
from warren.config.keys import Key, keys_of
from warren.config.secrets import shown
from warren.config.sections import Section

BARE = re.compile("[A-Za-z0-9_-]+")


def render_effective(loaded: Loaded, *, changed: bool = False) -> str:
    """Write TOML-like text, secrets masked, the origin of each value as a comment after it.

    With `changed`, write only the keys whose value is not the default.
    """
    shown_keys = [
        (path, section, _changed(path, section, loaded) if changed else keys_of(type(section)))
        for path, section in _sections(loaded.config)
    ]
    # A section that is off by default says something even without keys.
    return "\n\n".join(
        _section(path, section, keys, loaded)
        for path, section, keys in shown_keys
        if keys or path in OFF_BY_DEFAULT
    )


def _changed(path: str, section: Section, loaded: Loaded) -> list[Key]:
    """With them the class-name, which no file may leave out."""
    keys = keys_of(type(section))
    differ = {
        key.name
        for key in keys
        if getattr(section, key.attribute) != key.default
        and loaded.origins[f"{path}.{key.name}"] != "default"  # such as ":0" of an unnamed server
    }
    return [key for key in keys if key.name in differ or (differ and key.name == "class-name")]


def settings_shown(config: Config) -> dict[str, dict[str, str]]:
    """Every setting by section and key, secrets masked."""
    return {
        path: {key.name: _text(getattr(section, key.attribute)) for key in keys_of(type(section))}
        for path, section in _sections(config)
    }


def _text(value: object) -> str:
    return "" if value is None else shown(value)


def _sections(config: Config) -> Iterator[tuple[str, Section]]:
    yield "general", config.general
    yield "logging", config.logging
    if config.zookeeper:
        yield "zookeeper", config.zookeeper
    yield "spark", config.spark
    yield "metrics", config.metrics
    if config.history:
        yield "history", config.history
    for kind, modules in (
        ("client-profile", config.client_profiles),
        ("tls", config.tls),
        ("sasl", config.sasl),
        ("iam", config.iam),
        ("cluster", config.clusters),
        ("consumer", config.consumers),
        ("storage", {config.storage.name: config.storage}),
        ("evaluator", {config.evaluator.name: config.evaluator}),
        ("httpserver", config.httpservers),
        ("notifier", config.notifiers),
        ("sink", config.sinks),
        ("policy", config.policies),
        ("silence", config.silences),
    ):
        for name, module in modules.items():
            yield f"{kind}.{name}", module


def _header(path: str) -> str:
    """Write the section's header; quote a name that TOML would split."""
    kind, dot, name = path.partition(".")
    return f"[{kind}{dot}{name if not dot or BARE.fullmatch(name) else shown(name)}]"


def _line(key: Key, value: object) -> str:
    if value is None:  # its default depends on another key
        return f"#{key.name} = {key.extra['default']}"
    return f"{key.name} = {shown(value)}"


def _section(path: str, section: Section, keys: Iterable[Key], loaded: Loaded) -> str:
    lines = [
        (_line(key, getattr(section, key.attribute)), loaded.origins[f"{path}.{key.name}"])
        for key in keys
    ]
    width = min(max((len(text) for text, _ in lines), default=0), 60)
    return "\n".join([_header(path), *(f"{text:<{width}}  # {origin}" for text, origin in lines)])
