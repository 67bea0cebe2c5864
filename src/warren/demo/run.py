"""`warren demo`: a broker, groups in every state, and Warren judging them."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession
from rich.console import Console
from rich.live import Live

from warren.app import Monitor, monitoring, spark_session
from warren.config import Config
from warren.demo import demo_groups, show, spark_jobs
from warren.demo.broker import Broker, make_offsets_topic
from warren.demo.place import configure, directory, interruptible
from warren.demo.scene import DemoBoard, Scene
from warren.demo.traffic import Traffic
from warren.errors import StartError, WarrenError
from warren.model.status import Status
from warren.process import logs
from warren.process.signals import stopping
from warren.spark import jars
from warren.spark.class_archive import made_later
from warren.spark.session import recordings
from warren.terminal.live_boards import BoardAnswers

LOOK_S = 1.0
# A short run does not gain from full compilation; no files outside the demo's directory. With one
# compiler Java would have less room for compiled code, and none would be compiled once it is full.
JAVA_OPTIONS = (
    *("-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m"),
    *("-XX:+UseSerialGC", "-XX:-UsePerfData"),
)
READY_S = 120.0


@dataclass(frozen=True)
class DemoOptions:
    seconds: float | None = None  # how long to run; None: until Ctrl-C
    groups: int = len(demo_groups.GROUPS)
    partitions: int = 4
    port: int | None = None
    keep: bool = False


def run(options: DemoOptions) -> int:
    """Run the demo until Ctrl-C, or for the given seconds; returns the exit code."""
    console = show.console()
    with ExitStack() as stack:
        # A forced exit is safe: the watchdog removes what is left.
        stop = stack.enter_context(stopping(forced=lambda: None))
        home = stack.enter_context(directory(keep=options.keep))
        if options.keep:
            stack.callback(console.print, f"Kept: {home}")
        try:
            with interruptible():
                stage = _set_up(options, home, stop, console, stack)
        except KeyboardInterrupt:
            console.print("Stopped before it was up.")
            return 0
        outcome = _watch(stage, options, console)
        is_stopped = stop.is_set()
    return _conclude(outcome, options, console, stopped=is_stopped)


@dataclass(frozen=True)
class Stage:
    """The running demo."""

    stop: threading.Event
    answers: BoardAnswers


def _set_up(
    options: DemoOptions, home: Path, stop: threading.Event, console: Console, stack: ExitStack
) -> Stage:
    for bundle in (jars.BROKER, jars.SPARK_KAFKA, jars.DELTA):
        fetch_jars(console, bundle)
    java_options = [*JAVA_OPTIONS, f"-Djava.io.tmpdir={home / 'tmp'}"]
    broker = Broker(offsets_partitions=4, directory=home / "broker", java_options=java_options)
    config = configure(home, broker.bootstrap, options.port, java_options)
    stack.enter_context(logs.configured(config.logging))
    monitor = stack.enter_context(monitoring(config))
    with show.step(console, f"Starting Kafka on {broker.bootstrap}, and Spark beside it"):
        spark = _start(broker, config, stack, keep=options.keep)
    with show.step(console, f"Making topics and {options.groups} consumer groups"):
        traffic = Traffic(broker.bootstrap, options.partitions)
        make_offsets_topic(broker.bootstrap)
        traffic.prepare()
        scene = Scene(broker.bootstrap, traffic, DemoBoard(lambda: monitor.board), stop)
        stack.enter_context(_at_work(scene, options.groups - len(demo_groups.GROUPS)))
    with show.step(console, "Reading the offsets topic to its end"):
        stack.enter_context(_judging(monitor, spark, stop))
        _wait_until_read(monitor, scene)
    jobs = {"spark jobs": partial(spark_jobs.run, spark, scene, home)}
    stack.enter_context(_threads(jobs, stop))
    # The next demo starts faster; this one goes on meanwhile.
    stack.enter_context(made_later([*broker.recordings, *recordings(spark)], lambda: True))
    console.print(show.box(monitor.urls[0], home, keep=options.keep))
    scene.shown.set()
    return Stage(stop, BoardAnswers(config, lambda: monitor.board))


def fetch_jars(console: Console, bundle: jars.Bundle) -> None:
    """Download the jars the first time, and show the progress."""
    if jars.is_cached(bundle):
        return
    doing = f"Downloading the jars of {bundle.title} (once)"
    with show.step(console, doing, partial(_so_far, bundle)):
        jars.resolve(bundle)


def _so_far(bundle: jars.Bundle) -> str:
    return f"{jars.count_downloaded(bundle)} files so far"


def _start(broker: Broker, config: Config, stack: ExitStack, *, keep: bool) -> SparkSession:
    """Start the broker and Spark at the same time: each takes seconds."""
    # The data is not read again: the broker need not write it out.
    stack.callback(broker.stop if keep else broker.kill)
    with ThreadPoolExecutor(1) as pool:
        started = pool.submit(broker.start)
        spark = stack.enter_context(spark_session(config))
        started.result()
    return spark


@contextmanager
def _at_work(scene: Scene, others: int) -> Iterator[None]:
    """Run the producer and the groups in threads until the context ends."""
    works: dict[str, Callable[[], None]] = {"producer": lambda: scene.traffic.run(scene.stop)}
    for each in demo_groups.GROUPS:
        works[each.name] = partial(demo_groups.take_turns, each, scene)
    if others:
        works["crowd"] = partial(demo_groups.commit_in_turns, others, scene)
    with _threads(works, scene.stop):
        yield


@contextmanager
def _judging(monitor: Monitor, spark: SparkSession, stop: threading.Event) -> Iterator[None]:
    """Run Warren in a thread; raises at the end if it failed, such as when Spark died."""
    died: list[WarrenError] = []

    def judge() -> None:
        try:
            monitor.run(spark, stop)
        except WarrenError as error:
            died.append(error)

    try:
        with _threads({"monitor": judge}, stop):
            yield
    finally:
        if died:
            raise died[0]


@contextmanager
def _threads(works: Mapping[str, Callable[[], None]], stop: threading.Event) -> Iterator[None]:
    threads = [threading.Thread(target=work, name=name) for name, work in works.items()]
    try:
        for thread in threads:
            thread.start()
        yield
    finally:
        stop.set()
        for thread in threads:
            if thread.ident is not None:  # it was started
                thread.join()


def _wait_until_read(monitor: Monitor, scene: Scene) -> None:
    """Wait until Warren has caught up: before that a healthy group looks stopped."""
    deadline = time.monotonic() + READY_S
    while not (monitor.board.health.ready and scene.board.status("healthy") == Status.OK):
        if scene.stop.wait(0.1):
            raise StartError("stopped before Warren had caught up")
        if time.monotonic() > deadline:
            raise StartError(
                f"Warren did not catch up within {READY_S:.0f} s; --keep keeps its log"
            )


def _watch(stage: Stage, options: DemoOptions, console: Console) -> show.Outcome:
    """Show the groups, if there is a terminal, until the demo ends."""
    began = time.monotonic()
    outcome = show.Outcome(began)
    with Live(console=console, auto_refresh=False, transient=options.seconds is not None) as live:
        while not stage.stop.is_set():
            seen = stage.answers.overview()
            outcome.see(seen, time.monotonic())
            if console.is_terminal:
                live.update(show.table(seen, console), refresh=True)
            if options.seconds is not None and time.monotonic() - began >= options.seconds:
                break
            stage.stop.wait(LOOK_S)
    return outcome


def _conclude(
    outcome: show.Outcome, options: DemoOptions, console: Console, *, stopped: bool
) -> int:
    if options.seconds is None:
        console.print("Stopped; nothing is left behind." if not options.keep else "Stopped.")
        return 0
    console.print(outcome.summary())
    if outcome.missed and not stopped:
        console.print(f"Never had the expected status: {', '.join(outcome.missed)}", style="red")
        return 1
    return 0
