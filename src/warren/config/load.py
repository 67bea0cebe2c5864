"""Builds a Config from a file and the environment, or raises an error with every problem.

The Config is complete even if it has problems, so that checks across sections run, and are
reported, together with the rest.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, cast

import msgspec

from warren.config import files
from warren.config.checks import check, idle_sections
from warren.config.config import (
    IMPLICIT,
    IN_ORDER,
    LOOKED_UP,
    NAMED,
    OFF_BY_DEFAULT,
    ONLY_ONE,
    SINGLE,
    Config,
    Loaded,
)
from warren.config.files import Environment, Table
from warren.config.findings import Findings
from warren.config.keys import Key, keys_of
from warren.config.secrets import FrozenMap, has_java_options, is_secretive, shown
from warren.config.sections import General, Section
from warren.config.sinks import HttpSink
from warren.config.values import SectionReader
from warren.errors import ConfigError

IN_ARGUMENTS = (
    "a secret in it is visible in the arguments of Spark's processes on other machines; put it "
    "into a file there"
)


def add_warnings(config: Config, findings: Findings) -> None:
    if not config.clusters:
        findings.warn("cluster", "there is no [cluster.NAME]: nothing to monitor")
    is_local = config.spark.master.startswith("local")
    if config.history is not None and not is_local and "://" not in config.history_directory:
        findings.warn(
            "history.directory",
            f"it is a path, and Spark runs on {config.spark.master}: unless all machines share "
            "that path, each writes its part to its own disk; use a URL",
        )
    for name, value in config.spark.conf.items():
        is_ours = is_local or name.startswith("spark.driver.")
        if has_java_options(name) and is_secretive(value) and not is_ours:
            findings.warn(f"spark.conf.{name}", IN_ARGUMENTS)


class Assembly:
    def __init__(self, tables: Table, environment: Environment, findings: Findings) -> None:
        self._tables = tables
        self._environment = environment
        self._findings = findings
        self._reader = SectionReader(environment, findings)

    def config(self) -> Config:
        for kind in sorted(self._tables.keys() - SINGLE.keys() - NAMED.keys()):
            self._findings.note_unknown(kind, "section", [*SINGLE, *NAMED])
        named: dict[str, Any] = {kind: self._modules(kind) for kind in NAMED}
        for kind in ONLY_ONE:
            named[kind] = self._only(kind, named[kind])
        single: dict[str, Any] = {kind: self._single(kind) for kind in SINGLE}
        if single["history"] is None and named.get("sink"):  # sinks read from it
            single["history"] = self._reader.section(SINGLE["history"], "history", {})
        profiles = named["client-profile"].values()
        sinks = [sink for sink in named["sink"].values() if isinstance(sink, HttpSink)]
        secured = [*profiles, *named["httpserver"].values(), single["zookeeper"], *sinks]
        self._add_from_environment("tls", named, {user.tls for user in secured if user})
        self._add_from_environment("sasl", named, {profile.sasl for profile in profiles})
        self._add_from_environment("iam", named, {profile.iam for profile in profiles})
        return Config(
            client_profiles=named["client-profile"],
            clusters=named["cluster"],
            consumers=named["consumer"],
            httpservers=named["httpserver"],
            notifiers=named["notifier"],
            sinks=named["sink"],
            policies=named["policy"],
            silences=named["silence"],
            **{kind: named[kind] for kind in ("tls", "sasl", "iam", *ONLY_ONE)},
            **single,
        )

    def _single(self, kind: str) -> Section | None:
        table = self._table(kind)
        absent = kind not in self._tables and not self._environment.mentions(kind)
        needs_file = kind in OFF_BY_DEFAULT or any(key.is_required for key in keys_of(SINGLE[kind]))
        if absent and needs_file:
            return None
        self._note_unknown(kind, table, keys_of(SINGLE[kind]))
        return self._reader.section(SINGLE[kind], kind, table)

    def _modules(self, kind: str) -> FrozenMap[Section]:
        table = self._table(kind)
        if not table and kind in IMPLICIT:
            struct = next(iter(NAMED[kind].values()))
            implicit = self._reader.section(struct, f"{kind}.default", {}, IMPLICIT[kind])
            return FrozenMap({"default": implicit})
        return FrozenMap(
            {
                name: module
                for name, inner in (table.items() if kind in IN_ORDER else sorted(table.items()))
                if (module := self._module(kind, name, inner)) is not None
            }
        )

    def _module(self, kind: str, name: str, table: Any) -> Section | None:
        path = f"{kind}.{name}"
        table = {} if table is None else table  # YAML's section without keys
        if not isinstance(table, dict):
            if kind in LOOKED_UP:
                self._findings.note_unknown(path, f"key; sections are written [{kind}.NAME]", [])
            else:
                self._findings.refuse(path, f"is outside a section; must be in [{kind}.NAME]")
            return None
        classes = NAMED[kind]
        struct = classes.get("") or self._of_class(path, table, classes)
        elsewhere = {key.name for each in classes.values() for key in keys_of(each)}
        self._note_unknown(path, table, keys_of(struct), elsewhere)
        return self._reader.section(struct, path, table)

    def _of_class(
        self, path: str, table: Table, classes: Mapping[str, type[Section]]
    ) -> type[Section]:
        """Choose by class-name; after a wrong one, still check the keys that all classes have."""
        first = next(iter(classes.values()))
        key = next(key for key in keys_of(first) if key.name == "class-name")
        found = self._reader.find(path, key, table)
        if found and str(found.raw) in classes:
            return classes[str(found.raw)]
        given = f"{shown(str(found.raw))} is not allowed" if found else "missing"
        choice = f"{'one of ' if len(classes) > 1 else ''}{', '.join(classes)}"
        self._findings.refuse(f"{path}.class-name", f"{given}; must be {choice}")
        return min(classes.values(), key=lambda each: len(keys_of(each)))

    def _add_from_environment(self, kind: str, named: dict[str, Any], referred: set[str]) -> None:
        """Read sections that the file refers to and only the environment has.

        Burrow looks these kinds up key by key, so that passwords can be kept out of the file.
        """
        absent = sorted(name for name in referred - named[kind].keys() if name)
        found = {
            name: self._reader.section(NAMED[kind][""], f"{kind}.{name}", {})
            for name in absent
            if self._environment.mentions(f"{kind}.{name}")
        }
        named[kind] = FrozenMap({**named[kind], **found})

    def _only(self, kind: str, modules: Mapping[str, Section]) -> Section:
        if len(modules) > 1:
            names = ", ".join(modules)
            self._findings.refuse(kind, f"has the sections {names}; must have only one")
        fallback = cast("Section", getattr(Config(), kind))
        return next(iter(modules.values()), fallback)

    def _table(self, kind: str) -> Table:
        table = self._tables.get(kind)
        if table is None:  # also YAML's section without keys
            return {}
        if isinstance(table, dict):
            return table
        form = f"{kind}.NAME" if kind in NAMED else kind
        self._findings.note_unknown(kind, f"key; sections are written [{form}]", [])
        return {}

    def _note_unknown(
        self,
        path: str,
        table: Table,
        keys: tuple[Key, ...],
        elsewhere: AbstractSet[str] = frozenset(),
    ) -> None:
        known = {key.name for key in keys} | {key.extra.get("formerly", "") for key in keys}
        known |= {key.file_name for key in keys}
        for name in sorted(table.keys() - known):
            if name in elsewhere:
                self._findings.warn(f"{path}.{name}", "not used by a section of this class-name")
            else:
                self._findings.note_unknown(f"{path}.{name}", "key", [key.name for key in keys])


def load(path: Path, environ: Mapping[str, str]) -> Loaded:
    """Read PATH, a file or Burrow's config directory; raises ConfigError with every problem."""
    file = files.find(path)
    tables, twice = files.read(file)
    findings = Findings()
    for key in twice:
        findings.warn(key, "given more than once, in different case; the last one counts")
    environment = Environment(environ, _prefix(tables))
    config = Assembly(tables, environment, findings).config()
    check(config, findings)
    excused = findings.excuse(idle_sections(config))
    findings.add_lines(file)
    if findings.problems:
        # An unknown key is often a misspelt one that is now missing.
        raise ConfigError(file, [*map(str, findings.problems), *findings.unknown])
    add_warnings(config, findings)
    for variable in environment.ignored([*SINGLE, *NAMED]):
        findings.warn(f"environment {variable}", "sets nothing; no section has such a key")
    if "zookeeper" in excused:
        config = msgspec.structs.replace(config, zookeeper=None)
    return Loaded(
        config=config,
        path=file,
        warnings=findings.warnings,
        unknown=findings.unknown,
        unused=findings.unused,
        origins=FrozenMap(findings.origins),
    )


def _prefix(tables: files.Table) -> str:
    general = tables.get("general")
    given = general.get("env-var-prefix") if isinstance(general, dict) else None
    return General().env_var_prefix if given is None else str(given)
