"""Spark's Java on this machine, started without Spark's scripts and before Python has loaded Spark.

The scripts start a second Java only to compose the command line of the first, and put every jar of
Spark's on its class path. Some of those take part in each start although nobody here uses them.
Where settings ask for more than a plain start, the scripts do it: see `is_plain`.
"""

import os
import re
import shlex
import struct
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from warren.config import Config
from warren.errors import StartError
from warren.spark import class_archive, jars, java_options
from warren.spark.class_archive import ClassArchive, Recording
from warren.spark.java import java_home
from warren.spark.java_options import CONF_DIR
from warren.spark.scratch import make_scratch, remove_scratch

GATEWAY = "org.apache.spark.api.python.PythonGatewayServer"
# A service manager's SIGTERM and a terminal's Ctrl-C reach every process: Spark must outlive both,
# so that Warren can finish its batch and stop Spark itself. Java ends when its standard input does,
# and until it reads that, when the lifeline ($1) closes before a line was written to it.
STARTER = """
trap '' HUP INT TERM
{ read -r _ <"/dev/fd/$1" || kill -9 $$; } >/dev/null 2>&1 &
shift
exec "$@"
"""
CLASS_PATH = "spark.driver.extraClassPath"
ON_CLASS_PATH = (jars.SPARK_KAFKA, jars.DELTA)
# Machine learning, Hive, Kubernetes, YARN, Spark Connect, Scala's prompt: Spark would find them
# where it looks for extensions, and load them.
UNUSED = re.compile(
    r"(spark-)?(mllib|graphx|hive(?!-storage-api)|kubernetes|yarn|connect|repl|breeze|spire|cats|"
    r"algebra|arpack|lapack|blas|vertx|datanucleus|derby|scala-compiler|JTransforms|JLargeArrays)"
)
LAUNCHERS = re.compile(
    r"spark\.(jars\.|submit\.|kerberos\.|driver\.extraLibraryPath|driver\.userClassPathFirst)"
)
DIRECTORIES = ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_DIST_CLASSPATH", "SPARK_PREPEND_CLASSES")
# Spark's own list (JavaModuleOptions): its launcher adds it to each command line.
MODULES = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    "--add-modules=jdk.incubator.vector",
    *(
        f"--add-opens=java.base/{package}=ALL-UNNAMED"
        for package in (
            *("java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net"),
            *("java.nio", "java.util", "java.util.concurrent", "java.util.concurrent.atomic"),
            *("jdk.internal.ref", "sun.nio.ch", "sun.nio.cs", "sun.security.action"),
            "sun.util.calendar",
        )
    ),
    "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    "-Djdk.reflect.useDirectMethodHandle=false",
    "-Dio.netty.tryReflectionSetAccessible=true",
)
ADDRESS = "_PYSPARK_DRIVER_CONN_INFO_PATH"  # names the file that Java writes its port to
POLL_S = 0.01
STOP_SECONDS = 5
UNIMPORTANT = ("WARNING", "NOTE: Picked up", "Picked up")  # first lines of Java's output


@dataclass(frozen=True)
class JavaProcess:
    """A Java that starts, or runs, and that nobody but us knows of."""

    process: "subprocess.Popen[bytes]"
    lifeline: IO[bytes]
    place: Path  # its scratch directory
    archive: ClassArchive | None
    recording: Recording | None  # if there is no class archive yet

    def wait_for_address(self) -> tuple[int, str]:
        """Its port and the secret; raises StartError if it ends before it has them."""
        file = _address_file(self.place)
        while not file.exists():
            if self.process.poll() is not None:
                raise StartError(f"Spark does not start: {complaint(log_file(self.place))}")
            time.sleep(POLL_S)
        self._let_live()
        content = file.read_bytes()
        port, length = struct.unpack(">ii", content[:8])
        return port, content[8 : 8 + length].decode()

    def gave_up_archive(self) -> bool:
        """Whether Java crashed over its class archive, which is removed now."""
        return bool(self.archive and self.archive.remove_after(self.process.poll()))

    def end(self) -> None:
        if self.process.poll() is not None:
            self._let_live()  # its number may be another's by now
        self.lifeline.close()
        if self.process.stdin:
            self.process.stdin.close()
        end(self.process)
        remove_scratch(self.place)

    def _let_live(self) -> None:
        if not self.lifeline.closed:
            self.lifeline.write(b"\n")
            self.lifeline.close()


def end(process: "subprocess.Popen[bytes]") -> None:
    """Wait for a Java whose standard input is closed."""
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def is_local(master: str) -> bool:
    """Whether Spark has one process: this driver's."""
    return master == "local" or master.startswith("local[")


def is_plain(master: str, conf: Mapping[str, str]) -> bool:
    """Whether a start of Java is all that Spark's scripts would do."""
    return (
        is_local(master)
        and not any(LAUNCHERS.match(name) for name in conf)
        and conf.get("spark.sql.catalogImplementation") != "hive"
        and not any(os.environ.get(name) for name in (*DIRECTORIES, "PYSPARK_SUBMIT_ARGS"))
        and java_options.is_own_conf()
    )


@contextmanager
def started_early(config: Config, master: str | None = None) -> Iterator[JavaProcess | None]:
    """Start Java if that is all there is to do; it ends with the block, if it has not before."""
    master, spark = master or config.spark.master, config.spark
    # With debug logging Java prints to Warren's output, which may be redirected later.
    if not is_plain(master, spark.conf) or config.logging.level == "debug":
        yield None
        return
    java = start(master, spark.conf, spark.driver_memory, bundles(config))
    try:
        yield java
    finally:
        java.end()


def bundles(config: Config) -> tuple[jars.Bundle, ...]:
    """Delta's part of a session takes seconds to start; sinks read history, too."""
    return (jars.SPARK_KAFKA, jars.DELTA) if config.history else (jars.SPARK_KAFKA,)


def start(
    master: str,
    conf: Mapping[str, str],
    driver_memory: str,
    wanted: Sequence[jars.Bundle],
    *,
    debug: bool = False,
) -> JavaProcess:
    """Start Java without waiting for it."""
    on_path = class_path(conf, wanted)
    place = make_scratch()
    try:
        archive = _find_archive(on_path, conf)
        options = java_options.compose(conf, archive, place / "classes", is_local=True)
        arguments = [
            *("-cp", os.pathsep.join(on_path)),
            *shlex.split(conf.get(java_options.DEFAULT_OPTIONS, "")),
            *(f"-Xmx{driver_memory}", *shlex.split(options)),
            *shlex.split(os.environ.get("SPARK_SUBMIT_OPTS", "")),
            *MODULES,
        ]
        environ = environment(master, debug=debug) | {ADDRESS: str(_address_file(place))}
        process, lifeline = _run(_argument_file(arguments, place), place, environ, debug=debug)
    except ValueError as error:
        remove_scratch(place)
        raise StartError(f"cannot parse spark.driver.extraJavaOptions: {error}") from error
    except BaseException:
        remove_scratch(place)
        raise
    recording = None
    if archive is not None and not archive.is_made:
        recording = Recording(archive, place / "classes", os.pathsep.join(on_path))
    return JavaProcess(process, lifeline, place, archive, recording)


def find_archive() -> ClassArchive | None:
    """The class archive of a local session without settings of the user's."""
    return _find_archive(class_path({}, ON_CLASS_PATH), {})


def _find_archive(on_path: Sequence[str], conf: Mapping[str, str]) -> ClassArchive | None:
    if not java_options.allow_archive(conf):
        return None
    return class_archive.find("spark", java_home(), map(Path, on_path))


def class_path(conf: Mapping[str, str], wanted: Sequence[jars.Bundle]) -> list[str]:
    """The user's own entries, the connectors' jars, or those of `spark.jars`, and Spark's."""
    given = conf.get("spark.jars", "")
    found = {bundle: jars.for_spark(bundle, given) for bundle in wanted}
    if not given:  # one archive serves sessions with and without Delta
        found |= {each: jars.at_hand(each) for each in ON_CLASS_PATH if each not in found}
    of_spark = sorted((jars.spark_home() / "jars").glob("*.jar"))
    used = [jar for jar in of_spark if not UNUSED.match(jar.name)]
    theirs = [entry for entry in conf.get(CLASS_PATH, "").split(os.pathsep) if entry]
    ours = dict.fromkeys(str(jar) for each in (*found.values(), used) for jar in each)
    return [*theirs, *ours]


def environment(master: str, *, debug: bool) -> dict[str, str]:
    """What Spark and its scripts read from the environment only."""
    usual = {
        "SPARK_CONF_DIR": str(CONF_DIR),
        # Java has hundreds of threads: by default the C library gives many of them their own heap.
        "MALLOC_ARENA_MAX": "2",
        # For the program with which Spark's scripts only compose Java's command line.
        "SPARK_LAUNCHER_OPTS": "-XX:TieredStopAtLevel=1 -XX:-UsePerfData",
    }
    if master.startswith("local"):  # of one machine, even in several processes
        usual["SPARK_LOCAL_IP"] = "127.0.0.1"
    ours = {
        "JAVA_HOME": str(java_home()),
        # Another Spark on this machine would fit neither this PySpark nor our jars.
        "SPARK_HOME": str(jars.spark_home()),
        "WARREN_SPARK_LOG": "info" if debug else "error",
    }
    return usual | dict(os.environ) | ours


def _argument_file(arguments: Sequence[str], place: Path) -> Path:
    """Every user can read the arguments of a process; this file only we can."""
    file = place / "arguments"
    escaped = (word.replace("\\", r"\\").replace('"', r"\"") for word in arguments)
    file.write_text("".join(f'"{word}"\n' for word in escaped))
    return file


def _run(
    arguments: Path, place: Path, environ: Mapping[str, str], *, debug: bool
) -> "tuple[subprocess.Popen[bytes], IO[bytes]]":
    java = str(java_home() / "bin" / "java")
    theirs, ours = os.pipe()
    lifeline = os.fdopen(ours, "wb")
    with log_file(place).open("wb") as output, os.fdopen(theirs):
        said = None if debug else output
        process = subprocess.Popen(  # noqa: S603  our own command
            ["/bin/sh", "-c", STARTER, "sh", str(theirs), java, f"@{arguments}", GATEWAY],
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=said,
            env=environ,
            cwd=place,
            pass_fds=(theirs,),
        )
    return process, lifeline


def _address_file(place: Path) -> Path:
    return place / "address"


def log_file(place: Path) -> Path:
    """What Java prints before any logging is set up."""
    return place / "spark.log"


def complaint(log: Path) -> str:
    """The first serious line of Java's output; the rest is what follows from it."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
    serious = [line for line in lines if line and not line.startswith(UNIMPORTANT)]
    return serious[0] if serious else "it printed nothing; try again with debug logging"
