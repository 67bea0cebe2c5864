"""The jars that no Python package contains: downloaded once into the user's cache.

Ivy, which is part of PySpark, downloads them: nothing else has to be installed.

`WARREN_JARS=DIR` replaces the network by a directory: the jars lie in it directly, or in a folder
for each bundle, as in a copy of our own cache. `WARREN_IVY_SETTINGS=FILE` sends Ivy to a company's
mirror instead of Maven Central.
"""

import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from xml.sax.saxutils import quoteattr

from warren.errors import JarsMissing
from warren.spark.java import java_home

_distribution = distribution("pyspark")  # to import it would take longer
SPARK = Path(str(_distribution.locate_file("pyspark")))
VERSION = _distribution.version
SPARK_JARS = SPARK / "jars"
PROGRAMS_AND_JARS = ("bin", "jars")
CORE = "jars/spark-core_*.jar"
DOWNLOADED = b"[SUCCESSFUL ]"  # in Ivy's log, for each file
# Without these a host that drops packets would delay the start for minutes.
TIMEOUTS = (
    "-Dsun.net.client.defaultConnectTimeout=20000",
    "-Dsun.net.client.defaultReadTimeout=60000",
)


def shipped_with_spark() -> set[str]:
    """Modules that must not be added again, perhaps in another version."""
    shipped = {re.sub(r"-\d[^-]*(-.*)?$", "", jar.stem) for jar in SPARK_JARS.glob("*.jar")}
    return shipped | {"commons-logging"}  # Spark has jcl-over-slf4j in its place


def ivy_module(coordinates: Iterable[str], excluded: Iterable[str]) -> str:
    """The descriptor of an Ivy module that depends on these coordinates."""
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


def retrieve(  # noqa: PLR0913  each is a path or setting of one command
    descriptor: Path,
    into: Path,
    home: Path,
    log: Path,
    environ: Mapping[str, str],
    *,
    types: Sequence[str] = ("jar", "bundle"),
) -> str | None:
    """Download what the descriptor names; returns the problem in one line, or None."""
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
        *TIMEOUTS,
        # A home of its own: a half-filled ~/.ivy2 or ~/.m2 makes Ivy fail on what it finds there.
        f"-Divy.default.ivy.user.dir={home}",
        *("-jar", str(next(SPARK_JARS.glob("ivy-*.jar")))),
        *(("-settings", settings) if settings else ()),
        *("-cache", str(home / "cache")),
        *("-ivy", str(descriptor), "-confs", "default", "-types", *types),
        *("-retrieve", f"{into}/[artifact]-[revision].[ext]"),
    ]


def _complaint(output: str) -> str:
    """The first module that Ivy could not download, and why, from its long output."""
    module = re.search(r"^\s*:: (\S+#.+?)\s*$", output, re.MULTILINE)
    network = re.search(r"Server access error at url \S+ \((.+)\)", output)
    reasons = [found[1] for found in (module, network) if found]
    return ", ".join(reasons) or "Ivy failed"


@dataclass(frozen=True)
class Bundle:
    name: str
    version: str
    title: str  # for messages
    coordinates: tuple[str, ...]
    needed: tuple[str, ...]  # prefixes of the files that it cannot work without
    inside_spark: bool = True  # if so, leave out the modules that Spark ships

    @property
    def folder(self) -> str:
        return f"{self.name}-{self.version}"


def _spark_kafka(version: str) -> Bundle:
    return Bundle(
        name="spark-kafka",
        version=version,
        title="Spark's Kafka connector",
        coordinates=(f"org.apache.spark:spark-sql-kafka-0-10_2.13:{version}",),
        needed=(
            f"spark-sql-kafka-0-10_2.13-{version}",
            f"spark-token-provider-kafka-0-10_2.13-{version}",
            "kafka-clients-",
            "commons-pool2-",
        ),
    )


def _delta(version: str) -> Bundle:
    return Bundle(
        name="delta",
        version=version,
        title="Delta Lake",
        coordinates=(f"io.delta:delta-spark_2.13:{version}",),
        needed=(f"delta-spark_2.13-{version}", f"delta-storage-{version}"),
    )


def _broker(version: str) -> Bundle:
    return Bundle(
        name="kafka",
        version=version,
        title="the Kafka broker for demo and tests",
        coordinates=(f"org.apache.kafka:kafka_2.13:{version}", "org.slf4j:slf4j-simple:1.7.36"),
        needed=(
            f"kafka_2.13-{version}",
            *(f"kafka-{part}-{version}" for part in ("clients", "server", "metadata", "storage")),
            "scala-library-",
            "slf4j-simple-",
        ),
        inside_spark=False,
    )


def _zookeeper(version: str) -> Bundle:
    return Bundle(
        name="zookeeper",
        version=version,
        title="the ZooKeeper server for tests",
        coordinates=(
            f"org.apache.zookeeper:zookeeper:{version}",
            "io.dropwizard.metrics:metrics-core:4.1.12.1",
            "org.xerial.snappy:snappy-java:1.1.10.5",
        ),
        needed=(f"zookeeper-{version}", "zookeeper-jute-", "metrics-core-", "snappy-java-"),
        inside_spark=False,
    )


SPARK_KAFKA = _spark_kafka(VERSION)
DELTA = _delta(VERSION)
BROKER = _broker("4.1.0")
ZOOKEEPER = _zookeeper("3.9.5")


def cache_dir(environ: Mapping[str, str] = os.environ) -> Path:
    base = environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME") or Path.home(), ".cache")
    return Path(base, "warren").absolute()


def spark_home(environ: Mapping[str, str] = os.environ, package: Path = SPARK) -> Path:
    """Where Spark is: in the Python package, or the same files in our cache.

    An installer such as uv links the files of all environments to the same ones. By linking them
    once more they get one path, which a class archive needs: otherwise each environment would make
    one for itself. Without such links, a copy would cost more than it gains.
    """
    core = next(package.glob(CORE), None)
    if core is None or (state := core.stat()).st_nlink == 1:
        return package
    home = cache_dir(environ) / "spark" / f"{VERSION}-{state.st_ino}-{state.st_size}"
    if not home.is_dir():
        try:
            _link_all(package, home)
        except OSError:  # another file system, no right to write, or another process was faster
            return home if home.is_dir() else package
    return home


def _link_all(package: Path, home: Path) -> None:
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{home.name}-", dir=home.parent) as name:
        whole = Path(name, home.name)
        for part in PROGRAMS_AND_JARS:
            shutil.copytree(package / part, whole / part, copy_function=os.link)
        whole.rename(home)
    for other in home.parent.glob("[!.]*"):
        if other != home and all(core.stat().st_nlink == 1 for core in other.glob(CORE)):
            shutil.rmtree(other, ignore_errors=True)  # no environment has these any more


def resolve(bundle: Bundle, environ: Mapping[str, str] = os.environ) -> list[Path]:
    """Every jar of the bundle; downloads them the first time."""
    if environ.get("WARREN_JARS"):
        return from_directory(bundle, Path(environ["WARREN_JARS"]))
    target = cache_dir(environ) / "jars" / bundle.folder
    if not target.is_dir():
        _fetch_once(bundle, target, environ)
    return sorted(target.glob("*.jar"))


def is_cached(bundle: Bundle, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether nothing has to be downloaded."""
    target = cache_dir(environ) / "jars" / bundle.folder
    return bool(environ.get("WARREN_JARS")) or target.is_dir()


def at_hand(bundle: Bundle, environ: Mapping[str, str] = os.environ) -> list[Path]:
    """The bundle's jars if nothing has to be downloaded, else none."""
    try:
        return resolve(bundle, environ) if is_cached(bundle, environ) else []
    except JarsMissing:
        return []


def count_downloaded(bundle: Bundle, environ: Mapping[str, str] = os.environ) -> int:
    """How many files have been downloaded, during or after a download."""
    log = _log(bundle, environ)
    return log.read_bytes().count(DOWNLOADED) if log.exists() else 0


def _log(bundle: Bundle, environ: Mapping[str, str]) -> Path:
    return cache_dir(environ) / f"ivy-{bundle.folder}.log"


def for_spark(bundle: Bundle, given: str, environ: Mapping[str, str] = os.environ) -> list[Path]:
    """The bundle's jars, or those of `spark.jars` if it is set: files, or directories of them."""
    if not given:
        return resolve(bundle, environ)
    places = [Path(place.strip()).absolute() for place in given.split(",")]
    jars = [j for p in places for j in (sorted(p.glob("*.jar")) if p.is_dir() else [p])]
    pick(bundle, jars, "spark.jars")
    return jars


def from_directory(bundle: Bundle, directory: Path) -> list[Path]:
    """The bundle's jars from a directory that the user filled."""
    directory = directory.absolute()  # Spark and the broker have another working directory
    own = directory / bundle.folder
    jars = sorted((own if own.is_dir() else directory).glob("*.jar"))
    return pick(bundle, jars, str(directory))


def pick(bundle: Bundle, jars: list[Path], where: str) -> list[Path]:
    """Keep the jars of this bundle; raises `JarsMissing` if a needed one is not there."""
    missing = [name for name in bundle.needed if not any(j.name.startswith(name) for j in jars)]
    if missing:
        names = ", ".join(f"{name.rstrip('-')}*.jar" for name in missing)
        raise JarsMissing(bundle.title, f"{where} lacks {names}")
    if not bundle.inside_spark:
        return jars
    return [jar for jar in jars if jar.name.startswith(bundle.needed)]


def _fetch_once(bundle: Bundle, target: Path, environ: Mapping[str, str]) -> None:
    with _alone(target.parent, bundle):
        if target.is_dir():  # another process has downloaded it
            return
        print(f"warren: fetching the jars of {bundle.title} (once)", file=sys.stderr)  # noqa: T201  progress, before logging is set up
        # In the same directory, so that the rename is atomic: the folder is never incomplete.
        scratch = Path(tempfile.mkdtemp(prefix=f".{bundle.folder}-", dir=target.parent))
        try:
            _retrieve(bundle, scratch, environ)
            (scratch / "jars").rename(target)
        finally:
            shutil.rmtree(scratch)


@contextmanager
def _alone(directory: Path, bundle: Bundle) -> Iterator[None]:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = (directory / ".lock").open("w")
    except OSError as error:
        raise JarsMissing(bundle.title, f"cannot write to the cache: {error}") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _retrieve(bundle: Bundle, scratch: Path, environ: Mapping[str, str]) -> None:
    cache = cache_dir(environ)
    log = _log(bundle, environ)
    excluded = shipped_with_spark() if bundle.inside_spark else set()
    (scratch / "ivy.xml").write_text(ivy_module(bundle.coordinates, excluded))
    problem = retrieve(scratch / "ivy.xml", scratch / "jars", cache / "ivy", log, environ)
    if problem:
        raise JarsMissing(bundle.title, f"{problem} (more in {log})")
