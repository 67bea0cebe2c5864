"""The SparkSession, and why each option is set."""

import os
import shlex
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from weakref import WeakKeyDictionary

from py4j.clientserver import ClientServer, JavaParameters, PythonParameters
from py4j.java_gateway import java_import
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from warren.config.secrets import is_secret_entry, is_secretive
from warren.errors import SparkDied, StartError
from warren.spark import jars, java_options, java_process
from warren.spark.class_archive import Recording
from warren.spark.java_options import DRIVER_OPTIONS, GIVEN_OPTIONS
from warren.spark.java_process import CLASS_PATH, JavaProcess, complaint, is_local, log_file
from warren.spark.scratch import make_scratch, remove_scratch

# For Python on executors. Set while there is one thread: others may start processes later.
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

SCRATCH = "spark.warren.scratch"  # where this session keeps what must not outlive it
ALIVE_POLL_S = 0.5
LIFELINE = "WARREN_LIFELINE"  # a file descriptor, for spark-env.sh
_lifelines: dict[ClientServer, int] = {}  # our end of the pipe to each JVM
_scratch: WeakKeyDictionary[SparkSession, Path] = WeakKeyDictionary()  # a dead JVM has no conf
_recordings: WeakKeyDictionary[SparkSession, Recording] = WeakKeyDictionary()

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
    # A collection gives memory back, such as what a catch-up took. By default Spark keeps what its
    # Kafka source has fetched, every record of a catch-up, for five minutes.
    "spark.cleaner.periodicGC.interval": "2min",
    "spark.kafka.consumer.fetchedData.cache.timeout": "20s",
    "spark.kafka.consumer.fetchedData.cache.evictorThreadRunInterval": "10s",
    # A Kafka client for each partition that is read. By default Spark keeps 64, too few for two
    # clusters: it would make them again for every batch. Idle ones go after five minutes.
    "spark.kafka.consumer.cache.capacity": "10000",
    # Reading commits does not wait while a question to history or a sink has many tasks.
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
# What PySpark's own code takes for imported.
KNOWN_IN_JAVA = (
    "org.apache.spark.SparkConf",
    "org.apache.spark.api.java.*",
    "org.apache.spark.api.python.*",
    "org.apache.spark.resource.*",
    "org.apache.spark.sql.Encoders",
    "org.apache.spark.sql.OnSuccessCall",
    "org.apache.spark.sql.functions",
    "org.apache.spark.sql.classic.*",
    "org.apache.spark.sql.api.python.*",
    "scala.Tuple2",
)
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
    java: JavaProcess | None = None,
) -> SparkSession:
    """Start Spark with our settings; the user's (`conf`) win. One session in a process.

    `java` was started before, with the same settings.
    """
    settings = {
        **ALWAYS,
        **(LOCAL if is_local(master) else {}),
        **(WITH_DELTA if jars.DELTA in bundles else {}),
        **conf,
        "spark.master": master,
        "spark.app.name": app_name,
        "spark.driver.memory": driver_memory,
    }
    start = partial(java_process.start, master, conf, driver_memory, bundles, debug=debug)
    if java is None and java_process.is_plain(master, conf):
        java = start()
    if java is None:
        return _submitted(settings, bundles, debug=debug)
    try:
        return _started(java, settings)
    except StartError:
        if not java.gave_up_archive():
            raise
    return _started(start(), settings)


def _started(java: JavaProcess, settings: Mapping[str, str]) -> SparkSession:
    try:
        spark = SparkSession(_context(_in_place(settings, java.place), _connect(java)))
    except BaseException:
        java.end()
        raise
    _scratch[spark] = java.place
    if java.recording:
        _recordings[spark] = java.recording
    return spark


def _in_place(settings: Mapping[str, str], place: Path) -> dict[str, str]:
    """The settings of a Java that has its options and all jars already."""
    known = (*DRIVER_OPTIONS, CLASS_PATH, "spark.jars")
    rest = {name: value for name, value in settings.items() if name not in known}
    return {"spark.local.dir": str(place)} | rest | {SCRATCH: str(place)}


def _connect(java: JavaProcess) -> ClientServer:
    """As PySpark's launch_gateway does; that would want the address from the environment.

    No thread may change that while another one starts a process.
    """
    port, secret = java.wait_for_address()
    gateway = ClientServer(
        java_parameters=JavaParameters(port=port, auth_token=secret, auto_convert=True),
        python_parameters=PythonParameters(port=0, eager_load=False),
    )
    gateway.proc = java.process
    for name in KNOWN_IN_JAVA:
        java_import(gateway.jvm, name)
    return gateway


def _submitted(
    settings: Mapping[str, str], bundles: Sequence[jars.Bundle], *, debug: bool
) -> SparkSession:
    """Start Spark by its own scripts, for a cluster or for settings that only they know."""
    master = settings["spark.master"]
    os.environ.update(java_process.environment(master, debug=debug))
    given = settings.get("spark.jars", "")
    found = dict.fromkeys(jar for each in bundles for jar in jars.for_spark(each, given))
    place = make_scratch()
    try:
        local = {"spark.local.dir": str(place)} if is_local(master) else {}
        options = java_options.compose(settings, None, place, is_local=is_local(master))
        settings = {
            **local,
            **settings,
            "spark.jars": ",".join(map(str, found)),
            GIVEN_OPTIONS: options,
            SCRATCH: str(place),
        }
        for_driver = {
            name: _without_secrets(settings[name], place / name)
            for name in DRIVER_OPTIONS
            if name in settings
        }
        settings |= for_driver
        spark = SparkSession(_context(settings, _submit(settings, place, debug=debug)))
    except BaseException:
        remove_scratch(place)
        raise
    _scratch[spark] = place
    return spark


def recordings(spark: SparkSession) -> list[Recording]:
    """What to make a class archive from; nothing if there is one, or none would fit."""
    return [_recordings[spark]] if spark in _recordings else []


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
    except (Py4JError, OSError):  # the JVM is ending: see its exit code
        return False


def _exit_code() -> int | None:
    """The exit code of the JVM; None while it runs."""
    gateway = SparkContext._gateway  # noqa: SLF001  the only place that knows
    return gateway.proc.poll() if gateway else 0


def _context(settings: Mapping[str, str], gateway: ClientServer) -> SparkContext:
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
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


def _submit(settings: Mapping[str, str], place: Path, *, debug: bool) -> ClientServer:
    # Every user can read the arguments of a process: the JVM gets secrets after its start.
    shown = [entry for entry in settings.items() if not is_secret_entry(*entry)]
    arguments = SparkConf(loadDefaults=False).setAll(shown)
    with log_file(place).open("wb") as output:
        # The launcher and the JVM print to the terminal before any logging is set up.
        streams = {} if debug else {"stdout": output, "stderr": output}
        try:
            return _launch(arguments, {"cwd": place, **streams})
        except PySparkRuntimeError as error:
            raise StartError(f"Spark does not start: {complaint(log_file(place))}") from error


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


def _end_jvm() -> None:
    """End the JVM and its connections, which PySpark would keep until the interpreter ends."""
    gateway = SparkContext._gateway  # noqa: SLF001  the only place that knows
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001  or the next session would talk to the dead JVM
    if gateway is None:
        return
    gateway.shutdown()
    gateway.proc.stdin.close()  # this makes the JVM exit
    java_process.end(gateway.proc)
    if gateway in _lifelines:
        os.close(_lifelines.pop(gateway))
