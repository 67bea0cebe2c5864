"""Ivy, the jar fetcher inside PySpark: with it nothing else has to be installed."""

import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pyspark

from warren.java import java_home

SPARK_JARS = Path(pyspark.__file__).parent / "jars"
ONE_CAME = b"[SUCCESSFUL ]"  # in its log, for each file
# Without these a host that swallows packets would hold the start for minutes.
PATIENCE = (
    "-Dsun.net.client.defaultConnectTimeout=20000",
    "-Dsun.net.client.defaultReadTimeout=60000",
)


def shipped_with_spark() -> set[str]:
    """Modules that must not come a second time, perhaps in another version."""
    shipped = {re.sub(r"-\d[^-]*(-.*)?$", "", jar.stem) for jar in SPARK_JARS.glob("*.jar")}
    return shipped | {"commons-logging"}  # Spark has jcl-over-slf4j in its place


def module(coordinates: Iterable[str], excluded: Iterable[str]) -> str:
    """Write the descriptor of a module that depends on the coordinates and what they need."""
    dependencies = "".join(
        f"<dependency org={quoteattr(org)} name={quoteattr(name)} rev={quoteattr(version)}"
        ' conf="default->default"/>'
        for org, name, version in (coordinate.split(":") for coordinate in coordinates)
    )
    excludes = "".join(f"<exclude module={quoteattr(name)}/>" for name in sorted(excluded))
    return (
        '<ivy-module version="2.0"><info organisation="warren" module="jars"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{dependencies}{excludes}</dependencies></ivy-module>"
    )


def retrieve(  # noqa: PLR0913  where from, where to, and by whom
    descriptor: Path,
    into: Path,
    home: Path,
    log: Path,
    environ: Mapping[str, str],
    *,
    types: Sequence[str] = ("jar", "bundle"),
) -> str | None:
    """Fetch what the descriptor names; return what went wrong, in a line, if something did."""
    command = _command(descriptor, into, home, environ, types)
    with log.open("wb") as output:
        done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False)  # noqa: S603  our own command
    return _complaint(log.read_text(errors="replace")) if done.returncode else None


def _command(
    descriptor: Path, into: Path, home: Path, environ: Mapping[str, str], types: Sequence[str]
) -> list[str]:
    settings = environ.get("WARREN_IVY_SETTINGS")
    return [
        str(java_home(environ) / "bin" / "java"),
        *PATIENCE,
        # A home of its own: a half-filled ~/.ivy2 or ~/.m2 makes Ivy fail on what it finds there.
        f"-Divy.default.ivy.user.dir={home}",
        *("-jar", str(next(SPARK_JARS.glob("ivy-*.jar")))),
        *(("-settings", settings) if settings else ()),
        *("-cache", str(home / "cache")),
        *("-ivy", str(descriptor), "-confs", "default", "-types", *types),
        *("-retrieve", f"{into}/[artifact]-[revision].[ext]"),
    ]


def _complaint(output: str) -> str:
    """Pick, of Ivy's many lines, the first thing that could not be had and why."""
    module = re.search(r"^\s*:: (\S+#.+?)\s*$", output, re.MULTILINE)
    network = re.search(r"Server access error at url \S+ \((.+)\)", output)
    reasons = [found[1] for found in (module, network) if found]
    return ", ".join(reasons) or "Ivy failed"
