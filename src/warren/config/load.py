"""From a file and the environment to a Config, or to every reason why not."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from warren.config import files
from warren.config.assemble import Assembly
from warren.config.checks import check, idle_sections
from warren.config.config import Loaded
from warren.config.environment import Environment
from warren.config.findings import Findings
from warren.config.kinds import NAMED, SINGLE
from warren.config.notices import notice
from warren.config.secrets import FrozenMap
from warren.config.sections import General
from warren.errors import ConfigError


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
    if findings.problems:
        # An unknown key is often the reason why another is missing.
        raise ConfigError(file, [*map(str, findings.problems), *findings.unknown])
    notice(config, findings)
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
