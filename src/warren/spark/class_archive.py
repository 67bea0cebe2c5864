"""Class-data archives: Java maps classes from a file instead of reading and verifying jars.

That is most of the time that Spark and a broker need to start. A Java process without an archive
records the names of the classes it loads. From these another Java process, which runs nothing,
makes the archive, in the user's cache beside the jars. Later processes use it.

An archive fits one Java and one class path: both are in its name. Java checks it again and works
without it, silently, if it does not fit or is cut short. It does not check all that is in it: from
one that is damaged inside, Java crashes, and whoever started it removes that archive.
"""

import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import structlog

from warren.errors import NoArchive
from warren.process.beside import beside
from warren.spark import jars

log = structlog.get_logger()

KEPT = 3  # archives of a kind: a machine may have several Warrens
POLL_S = 0.2
NEEDED_BYTES = 3 << 29  # 1.5 GiB: making one takes 1.1
# Java prints when an archive does not fit.
QUIET = "-Xlog:cds*=off"
# By default Java moves the archive to a random address: that touches and copies every page of it,
# 190 MB instead of the part that is used.
AT_ITS_ADDRESS = ("-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0")
CRASHES = {-signal.SIGABRT, -signal.SIGBUS, -signal.SIGSEGV}
# Options in these variables could contradict ours.
OPTIONS_VARIABLES = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS")
# Ends Java when we end, however we end: our side of the pipe then closes.
MAKER = """
exec 3<&0
"$@" </dev/null 3<&- & java=$!
{ read -r _ <&3; kill -KILL "$java"; } >/dev/null 2>&1 & watchdog=$!
exec 3<&-
wait "$java"; code=$?
kill "$watchdog" 2>/dev/null
exit "$code"
"""


@dataclass(frozen=True)
class ClassArchive:
    """An archive that may or may not have been made."""

    file: Path
    java_home: Path

    def options(self, class_list: Path) -> list[str]:
        """Java's options: use the archive if there is one, else record the classes."""
        if self.is_made:
            return [f"-XX:SharedArchiveFile={self.file}", *AT_ITS_ADDRESS, QUIET]
        return [f"-XX:DumpLoadedClassList={class_list}"]

    @property
    def is_made(self) -> bool:
        return os.access(self.file, os.R_OK)

    def remove_after(self, exit_code: int | None) -> bool:
        """Remove it if a Java that started from it crashed; tells whether it did."""
        if exit_code not in CRASHES or not self.is_made:
            return False
        log.warning("Java crashed at its start; removing its class archive", file=str(self.file))
        try:
            self.file.unlink(missing_ok=True)
        except OSError as error:
            log.warning("cannot remove the class archive", problem=str(error))
        return not self.is_made


@dataclass(frozen=True)
class Recording:
    """A Java process that records its classes, for an archive that is not there yet."""

    archive: ClassArchive
    class_list: Path
    class_path: str


def find(
    kind: str,
    java_home: Path,
    class_path: Iterable[Path],
    environ: Mapping[str, str] = os.environ,
) -> ClassArchive:
    """The archive of this kind that fits this Java and these jars."""
    parts = [java_home / "release", java_home / "lib" / "modules", *class_path]
    key = hashlib.sha256("".join(map(_identity, parts)).encode()).hexdigest()[:16]
    file = jars.cache_dir(environ) / "class-archives" / f"{kind}-{key}.jsa"
    return ClassArchive(file, java_home)


def _identity(file: Path) -> str:
    """What Java compares, too; in whole seconds, as the layers of an image keep them."""
    try:
        state = file.stat()
    except OSError:
        return f"{file}\n"
    return f"{file} {state.st_size} {int(state.st_mtime)}\n"


def make(recording: Recording, stop: threading.Event | None = None) -> None:
    """Make the archive, at the lowest priority; raises NoArchive if it cannot be, or was stopped.

    It takes half a minute or more of one core. Whoever comes second waits for the first.
    """
    stop = stop or threading.Event()
    file = recording.archive.file
    try:
        with _alone(file.parent, stop):
            _remove_scraps(file.parent)
            if not recording.archive.is_made:
                _make(recording, stop)
                _remove_old(file)
    except OSError as error:
        raise NoArchive(f"cannot write to the cache: {error}") from error


@contextmanager
def made_later(recordings: Iterable[Recording], is_time: Callable[[], bool]) -> Iterator[None]:
    """Make archives in the background once it is time; leaving the block gives up the rest."""

    def work(stop: threading.Event) -> None:
        while not is_time():
            if stop.wait(POLL_S):
                return
        for each in recordings:
            _make_and_log(each, stop)

    with beside("class archive", work):
        yield


def _make_and_log(recording: Recording, stop: threading.Event) -> None:
    file = str(recording.archive.file)
    log.info("making a class archive, so that the next start is faster", file=file)
    began = time.monotonic()
    try:
        make(recording, stop)
    except NoArchive as error:
        if not stop.is_set():
            log.info("no class archive was made; all works without it", reason=str(error))
    else:
        log.info("made a class archive", seconds=round(time.monotonic() - began))


@contextmanager
def _alone(directory: Path, stop: threading.Event) -> Iterator[None]:
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / ".lock").open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if stop.wait(POLL_S):
                    raise NoArchive("it was stopped") from None
        yield


def _make(recording: Recording, stop: threading.Event) -> None:
    if (room := _available_bytes()) < NEEDED_BYTES:
        raise NoArchive(f"only {room >> 20} MiB of memory are free, {NEEDED_BYTES >> 20} needed")
    target = recording.archive.file
    # In the same directory, so that the rename is atomic: the archive is never incomplete.
    with tempfile.TemporaryDirectory(prefix=f".{target.stem}-", dir=target.parent) as name:
        scratch = Path(name)
        (scratch / "classes").write_bytes(_whole_lines(recording.class_list.read_bytes()))
        problem = _run(_command(recording, scratch), scratch, stop)
        if problem:
            raise NoArchive(problem)
        with (scratch / "archive").open("rb") as made:
            os.fsync(made.fileno())  # a power cut after the rename would leave holes
        (scratch / "archive").rename(target)


def _whole_lines(text: bytes) -> bytes:
    """Java writes in blocks: a process that still runs has written half of its last line."""
    return text[: text.rfind(b"\n") + 1]


def _command(recording: Recording, scratch: Path) -> list[str]:
    return [
        *("/bin/sh", "-c", MAKER, "sh", "nice", "-n", "19"),
        str(recording.archive.java_home / "bin" / "java"),
        "-Xshare:dump",
        f"-XX:SharedClassListFile={scratch / 'classes'}",
        f"-XX:SharedArchiveFile={scratch / 'archive'}",
        # Only this collector writes objects into an archive; every one can read them.
        *("-XX:+UseG1GC", "-Xmx512m", "-XX:-UsePerfData"),
        *("-Xlog:disable", "-Xlog:all=error:stderr"),
        *("-cp", recording.class_path),
    ]


def _run(command: list[str], scratch: Path, stop: threading.Event) -> str:
    """Returns the problem in one line, or nothing."""
    environ = {name: os.environ[name] for name in os.environ if name not in OPTIONS_VARIABLES}
    said = scratch / "said"
    with said.open("wb") as output:
        maker = subprocess.Popen(  # noqa: S603  our own command
            command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            env=environ,
            cwd=scratch,
            start_new_session=True,  # Ctrl-C is for us
        )
    try:
        while maker.poll() is None and not stop.wait(POLL_S):
            pass
        stopped = maker.poll() is None
    finally:
        maker.communicate()  # closes the pipe: what still runs ends
    if stopped:
        return "it was stopped"
    if maker.returncode or not (scratch / "archive").exists():
        lines = said.read_text(errors="replace").strip().splitlines()
        return lines[0] if lines else f"Java ended with code {maker.returncode}"
    return ""


def _remove_scraps(directory: Path) -> None:
    """What a maker left that was killed; nobody else is making any now."""
    for scratch in directory.glob(".*-*"):
        shutil.rmtree(scratch, ignore_errors=True)


def _remove_old(made: Path) -> None:
    kind = made.stem.rpartition("-")[0]
    archives = sorted(made.parent.glob(f"{kind}-*.jsa"), key=lambda file: -file.stat().st_mtime)
    for file in archives[KEPT:]:
        file.unlink(missing_ok=True)


def _available_bytes() -> int:
    """Memory that is free on this machine, or in this container if that is less."""
    found = [1 << 62]
    lines = _text("/proc/meminfo").splitlines()
    found += [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")]
    for group in _control_groups():
        most, used = _text(f"{group}/memory.max"), _text(f"{group}/memory.current")
        if most.isdigit() and used.isdigit():
            found.append(int(most) - int(used))
    return min(found)


def _control_groups() -> Iterator[Path]:
    """Ours, and all that it is in: a service manager or a container may have set limits there."""
    top = Path("/sys/fs/cgroup")
    _, _, name = _text("/proc/self/cgroup").rpartition("::")
    own = top / name.lstrip("/")
    yield own
    yield from (each for each in own.parents if each == top or top in each.parents)


def _text(file: str) -> str:
    try:
        return Path(file).read_text().strip()
    except OSError:
        return ""
