"""The SparkSession, and why each option is set.

Spark's working directory is a scratch directory that goes with the session: Spark leaves folders
wherever it stands. Paths handed to Spark are therefore absolute.

A scratch directory holds a file that its process keeps locked. The kernel unlocks it when that
process dies, so the next start can tell what nobody needs any more, and removes it.
"""

import contextlib
import fcntl
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO
from weakref import WeakKeyDictionary

import pyspark
from py4j.clientserver import ClientServer
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from warren.config.secrets import is_secret_entry, is_secretive
from warren.errors import SparkDied, StartError
from warren.spark import jars
from warren.spark.java import java_home

PREFIX = "warren-spark-"
ALIVE = "alive"  # a file that is locked for as long as its process lives
_held: dict[Path, IO[bytes]] = {}


def make_scratch() -> Path:
    """A directory that nobody needs once this process has ended: the next start removes it."""
    _sweep_scratch()
    directory = Path(tempfile.mkdtemp(prefix=PREFIX))
    unlocked = directory / "unlocked"  # under this name nobody looks for it
    file = unlocked.open("ab")
    fcntl.flock(file, fcntl.LOCK_EX)
    unlocked.rename(directory / ALIVE)
    _held[directory] = file
    return directory


def remove_scratch(directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    if directory in _held:
        _held.pop(directory).close()


def _sweep_scratch() -> None:
    for file in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{ALIVE}"):
        with contextlib.suppress(OSError), file.open("r+b") as opened:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(file.parent, ignore_errors=True)


SCRATCH = "spark.warren.scratch"  # where this session keeps what must not outlive it
STOP_SECONDS = 5
ALIVE_POLL_S = 0.5
LIFELINE = "WARREN_LIFELINE"  # a file descriptor, for spark-env.sh
_lifelines: dict[ClientServer, int] = {}  # our end of the pipe to each JVM
_scratch: WeakKeyDictionary[SparkSession, Path] = WeakKeyDictionary()  # a dead JVM has no conf

# Kafka's settings that hold credentials are `sasl.jaas.config` and `ssl.keystore.key`.
SECRETIVE = "(?i)secret|password|passwd|token|credential|access[.]?key|account[.]key|jaas|keystore"
ALWAYS = {
    # By default the source leaves out internal topics: zero rows and no error. Only the
    # deprecated way of finding offsets reads __consumer_offsets.
    "spark.sql.streaming.kafka.useDeprecatedOffsetFetching": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    # The process runs for months: what Spark keeps about finished work has to stay small.
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.ui.retainedTasks": "200",
    "spark.sql.ui.retainedExecutions": "20",
    "spark.sql.streaming.numRecentProgressUpdates": "5",
    "spark.sql.streaming.minBatchesToRetain": "10",
    # Micro-batches are small and frequent; 200 shuffle tasks would cost more than the work.
    "spark.sql.shuffle.partitions": "4",
    # A query for each cluster, each with its own pool: a small batch does not wait while another
    # cluster catches up.
    "spark.scheduler.mode": "FAIR",
    # The default one starts a `readlink` process for every file of a checkpoint.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.catalogImplementation": "in-memory",  # no Hive metastore
    # Spark hides settings whose name or value matches, in its pages and in plans.
    "spark.redaction.regex": SECRETIVE,
    "spark.sql.redaction.options.regex": f"{SECRETIVE}|(?i)url",
}
LOCAL = {
    # No other machine connects to the driver, and host names may not resolve.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # Nor does another user of this machine: Spark makes a secret that never leaves the JVM. On a
    # cluster its owner sets the secret.
    "spark.authenticate": "true",
    "spark.network.crypto.enabled": "true",
}
# Stopping a query inside foreachBatch unwinds a deep stack and overflows the default one.
# Hadoop starts `chmod` for each file of a checkpoint, two in a batch: VFORK makes that cheap.
JAVA_OPTIONS = "-Xss8m -Djdk.lang.Process.launchMechanism=VFORK"
DRIVER_OPTIONS = ("spark.driver.defaultJavaOptions", "spark.driver.extraJavaOptions")
UNIMPORTANT = ("WARNING", "NOTE: Picked up", "Picked up")  # first lines of Java's output
WITH_DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # The list of a table's files has thousands of lines at most: 50 tasks for it cost seconds.
    "spark.databricks.delta.snapshotPartitions": "2",
}


def start_session(  # noqa: PLR0913  the caller chooses each
    master: str,
    app_name: str,
    conf: Mapping[str, str],
    driver_memory: str,
    *,
    bundles: Sequence[jars.Bundle] = (jars.SPARK_KAFKA, jars.DELTA),
    debug: bool = False,
) -> SparkSession:
    """Start Spark with our settings; the user's (`conf`) win. One session in a process."""
    given = conf.get("spark.jars", "")
    paths = [path for bundle in bundles for path in jars.for_spark(bundle, given)]
    java_options = (JAVA_OPTIONS, conf.get("spark.driver.extraJavaOptions", ""))
    is_local = master == "local" or master.startswith("local[")
    place = make_scratch()
    settings = {
        **ALWAYS,
        # Only when local: the workers of a cluster have their own disks.
        **({**LOCAL, "spark.local.dir": str(place)} if is_local else {}),
        **(WITH_DELTA if jars.DELTA in bundles else {}),
        **conf,
        "spark.master": master,
        "spark.app.name": app_name,
        "spark.driver.memory": driver_memory,
        "spark.driver.extraJavaOptions": " ".join(java_options),
        "spark.jars": ",".join(str(path) for path in dict.fromkeys(paths)),
        SCRATCH: str(place),
    }
    _set_environment(master, debug=debug)
    try:
        spark = SparkSession(_start_context(settings, place, debug=debug))
    except BaseException:
        remove_scratch(place)
        raise
    _scratch[spark] = place
    return spark


def stop_session(spark: SparkSession) -> None:
    """Stop Spark and end its JVM; both are gone when this returns."""
    if _exit_code() is None:
        spark.stop()
    _end_jvm()
    if spark in _scratch:
        remove_scratch(_scratch.pop(spark))


def wait_while_alive(spark: SparkSession, stop: threading.Event) -> None:
    """Wait for `stop`; raises SparkDied if Spark or its JVM ends before.

    A new Spark would need new streams, tables and sessions everywhere; it is simpler to restart
    the process.
    """
    while not stop.wait(ALIVE_POLL_S):
        code = _exit_code()
        if code is not None or _is_stopped(spark):
            raise SparkDied(code)


def _is_stopped(spark: SparkSession) -> bool:
    """Whether Spark was stopped, such as by a cluster's master that removed the application."""
    try:
        return bool(spark.sparkContext._jsc.sc().isStopped())  # noqa: SLF001  the only place that knows
    except Py4JError:  # the JVM is ending: see its exit code
        return False


def _exit_code() -> int | None:
    """The exit code of the JVM; None while it runs."""
    gateway = SparkContext._gateway  # noqa: SLF001  the only place that knows
    return gateway.proc.poll() if gateway else 0


def _set_environment(master: str, *, debug: bool) -> None:
    """Set what PySpark's launcher reads from the environment only."""
    os.environ["JAVA_HOME"] = str(java_home())
    # Another Spark on this machine would fit neither this PySpark nor our jars.
    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    os.environ["WARREN_SPARK_LOG"] = "info" if debug else "error"
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_CONF_DIR", str(Path(__file__).parent / "conf"))
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


def _start_context(settings: Mapping[str, str], place: Path, *, debug: bool) -> SparkContext:
    for_driver = {
        name: _without_secrets(settings[name], place / name)
        for name in DRIVER_OPTIONS
        if name in settings
    }
    settings = {**settings, **for_driver}
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    # Every user can read the arguments of a process: the JVM gets secrets after its start.
    shown = [entry for entry in settings.items() if not is_secret_entry(*entry)]
    arguments = SparkConf(loadDefaults=False).setAll(shown)
    log = place / "spark.log"
    with log.open("wb") as output:
        # The launcher and the JVM print to the terminal before any logging is set up.
        streams = {} if debug else {"stdout": output, "stderr": output}
        try:
            gateway = _launch(arguments, {"cwd": place, **streams})
        except PySparkRuntimeError as error:
            raise StartError(f"Spark does not start: {_complaint(log)}") from error
    interrupt = signal.getsignal(signal.SIGINT)
    try:
        return SparkContext(conf=conf, gateway=gateway)
    except BaseException:
        _end_jvm()
        raise
    finally:
        # SparkContext installs its own handler for Ctrl-C, which could raise anywhere.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, interrupt)


def _without_secrets(options: str, file: Path) -> str:
    """Java's options, with the secret ones moved to a file that only we can read."""
    if not is_secretive(options):
        return options
    try:
        words = shlex.split(options)
    except ValueError as error:
        raise StartError(f"cannot parse spark.driver.extraJavaOptions: {error}") from error
    secret = [word for word in words if is_secretive(word)]
    escaped = (word.replace("\\", r"\\").replace('"', r"\"") for word in secret)
    file.write_text("".join(f'"{word}"\n' for word in escaped))  # in a directory only we can read
    return shlex.join([*(word for word in words if word not in secret), f"@{file}"])


def _launch(arguments: SparkConf, popen: dict[str, object]) -> ClientServer:
    """Start the JVM with a pipe to us; when the pipe closes, the JVM ends: see spark-env.sh.

    Otherwise a JVM that we abandon during its start would wait forever for a connection.
    """
    theirs, ours = os.pipe()
    os.environ[LIFELINE] = str(theirs)
    try:
        popen |= {"pass_fds": (theirs,)}
        gateway: ClientServer = launch_gateway(arguments, popen_kwargs=popen)  # type: ignore[no-untyped-call]  # PySpark's
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
        del os.environ[LIFELINE]
    _lifelines[gateway] = ours
    return gateway


def _complaint(log: Path) -> str:
    """The first serious line of Java's output; the rest is what follows from it."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
    serious = [line for line in lines if line and not line.startswith(UNIMPORTANT)]
    return serious[0] if serious else "it printed nothing; try again with debug logging"


def _end_jvm() -> None:
    """End the JVM and its connections, which PySpark would keep until the interpreter ends."""
    gateway = SparkContext._gateway  # noqa: SLF001  the only place that knows
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001  or the next session would talk to the dead JVM
    if gateway is None:
        return
    gateway.shutdown()
    gateway.proc.stdin.close()  # this makes the JVM exit
    try:
        gateway.proc.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait()
    os.close(_lifelines.pop(gateway))
