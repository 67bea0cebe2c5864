"""The pipeline's side of the HTTP workers: starts them, sends boards, carries out their calls."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, assert_never

import msgspec
import structlog

from warren.config import Config
from warren.model.board import Board, SharedFile, StoredWindows
from warren.model.history_question import HistoryQuestion, Progress, ReportQuestion
from warren.model.offset_reports import Report
from warren.model.window_arrays import WindowArrays
from warren.serve.board_file import writer
from warren.serve.board_file.change_log import ChangeLog
from warren.serve.board_file.commits_file import CommitsFile
from warren.serve.http import channel
from warren.serve.http.channel import (
    Action,
    AddSilence,
    Call,
    DeleteGroup,
    EndSilence,
    Failed,
    GetLevel,
    HistoryProgress,
    ListSilences,
    Offer,
    OfHistory,
    OfSilences,
    PeriodReport,
    RecentHistory,
    ReportOffsets,
    Result,
    SetLevel,
    TableHistory,
    Taken,
)
from warren.serve.http.listeners import Listener
from warren.serve.http.settings import startup
from warren.serve.http.site import WORKERS
from warren.serve.http.startup import Startup
from warren.serve.metrics.series import series_granularity

_STARTED_S = time.time()
_PROC = Path("/proc/self")


def process_facts() -> dict[str, float]:
    times = os.times()
    facts = {"cpu_seconds_total": times.user + times.system, "start_time_seconds": _STARTED_S}
    if _PROC.exists():
        pages = int((_PROC / "statm").read_text().split()[1])
        facts["resident_memory_bytes"] = pages * os.sysconf("SC_PAGE_SIZE")
        facts["open_fds"] = len(list((_PROC / "fd").iterdir()))
    return facts


class Actions(Protocol):
    """What workers can call. Calls come from several threads, slow ones from their own."""

    def delete_group(self, cluster: str, group: str, topic: str | None) -> None:
        """Forget a group, or one topic of it, and publish a board without it before returning."""

    def get_level(self) -> str:
        """The log level, as Burrow names it."""

    def set_level(self, level: str) -> None:
        """`level` is one of Burrow's names."""

    def silences(self, action: OfSilences) -> str:
        """A status code and the answer to pass on, as JSON."""

    def report_offsets(self, reports: list[Report]) -> str:
        """Keep what is right of them; a `Taken` as JSON."""

    def recent_history(self, question: HistoryQuestion) -> str:
        """As `group_history`, but immediate; empty if memory does not reach back far enough."""

    def history_progress(self, ticket: str) -> Progress | None:
        """How far `group_history` is with the question that has this ticket; None: not known."""

    def history_report(self, question: ReportQuestion) -> str:
        """A status code and the answer to pass on, as JSON."""

    def group_history(self, question: HistoryQuestion) -> str:
        """A group's history as JSON: a status code and the answer to pass on. It may take long."""


log = structlog.get_logger()

INHERITED = ("PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "PYTHONHASHSEED")
STOP_SECONDS = 0.5
TAKEN_SECONDS = 1.0
CALLS = 4  # of a worker at once, and as many slow ones
FAILED = "it failed; the log says why"
RESTART_SECONDS = 1.0  # before a worker that died is replaced


@dataclass(frozen=True)
class _BoardFiles:
    number: int
    files: Sequence[SharedFile]  # the board, then the commits of each cluster


class _Worker:
    """One worker process, replaced when it dies. It has the latest board or gets it next."""

    def __init__(self, startup: Startup, do: Callable[[Call], Result], board: _BoardFiles) -> None:
        self._startup = startup
        self._do = do
        self._calls = ThreadPoolExecutor(CALLS, "http call")
        self._slow_calls = ThreadPoolExecutor(CALLS, "slow http call")
        self._lock = threading.Lock()  # guards everything below
        self._taken = threading.Condition(self._lock)
        self._stopping = threading.Event()
        self._latest = board
        self._on_its_way = False  # a board was sent and not taken yet
        self._has = 0
        self._process, self._stream = self._spawn()
        self._send_latest()
        self._thread = threading.Thread(target=self._run, name="http worker", daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def offer(self, board: _BoardFiles) -> None:
        """A worker that is still loading a board gets the latest one afterwards."""
        with self._lock:
            self._latest = board
            self._send_latest()

    def wait_taken(self, number: int, seconds: float) -> bool:
        with self._lock:
            return self._taken.wait_for(lambda: self._has >= number, seconds)

    def stop(self) -> None:
        self._stopping.set()
        for calls in (self._calls, self._slow_calls):
            calls.shutdown(wait=False, cancel_futures=True)
        with self._lock, suppress(OSError):  # it may have ended already
            self._stream.shutdown(socket.SHUT_RDWR)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._thread.join()
        self._stream.close()

    def _spawn(self) -> tuple[subprocess.Popen[bytes], socket.socket]:
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(  # noqa: S603  # our own module
                [sys.executable, "-P", "-m", "warren.serve.http.worker", str(theirs.fileno())],
                stdin=subprocess.PIPE,
                pass_fds=[theirs.fileno(), *(each.fd for each in self._startup.servers)],
                env=_environment(),
                process_group=0,
            )
        assert process.stdin is not None  # noqa: S101  # it is a pipe
        with suppress(BrokenPipeError), process.stdin as pipe:  # it may have ended already
            pipe.write(msgspec.json.encode(self._startup))
        return process, ours

    def _run(self) -> None:
        while True:
            self._serve()
            if self._stopping.wait(RESTART_SECONDS):
                return
            log.error("an HTTP worker ended; starting another", code=self._process.wait())
            try:
                self._replace()
            except OSError as error:
                log.error("cannot start an HTTP worker; retrying", problem=str(error))  # noqa: TRY400  # a line, not a trace

    def _replace(self) -> None:
        with self._lock:
            if self._stopping.is_set():
                return
            self._stream.close()
            self._process, self._stream = self._spawn()
            self._on_its_way, self._has = False, 0
            self._send_latest()

    def _serve(self) -> None:
        """Handle the worker's messages until it ends."""
        while (received := _receive(self._stream)) is not None:
            message, _ = received
            if isinstance(message, Taken):
                with self._lock:
                    self._on_its_way, self._has = False, message.number
                    self._taken.notify_all()
                    self._send_latest()
            elif isinstance(message, Call) and not self._stopping.is_set():
                # A change never waits behind slow calls.
                is_slow = isinstance(message.action, TableHistory | PeriodReport)
                calls = self._slow_calls if is_slow else self._calls
                calls.submit(self._answer, message, self._stream)
            elif isinstance(message, Failed):
                _log_failed(message)

    def _answer(self, call: Call, origin: socket.socket) -> None:
        result = self._do(call)
        with self._lock:
            if self._stream is origin:  # not if the worker was replaced meanwhile
                _send(self._stream, result)

    def _send_latest(self) -> None:
        board = self._latest
        if self._on_its_way or board.number <= self._has:
            return
        self._on_its_way = True
        _send(self._stream, Offer(board.number), [file.fd for file in board.files])


def _log_failed(failed: Failed) -> None:
    trace = {"exception": failed.trace} if failed.trace else {}
    log.error(
        "a request could not be answered",
        method=failed.method,
        path=failed.path,
        problem=failed.problem,
        **trace,
    )


def _environment() -> dict[str, str]:
    """Only a few harmless variables: others may hold passwords."""
    kept = {name: value for name, value in os.environ.items() if name in INHERITED}
    return kept | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def _receive(stream: socket.socket) -> tuple[channel.Message, list[int]] | None:
    try:
        return channel.receive(stream)
    except OSError:
        return None


def _send(stream: socket.socket, message: channel.Message, files: Sequence[int] = ()) -> None:
    try:
        channel.send(stream, message, files)
    except OSError:
        return  # it has ended: `_run` notices too and starts another


class Serving:
    """The running HTTP workers. `store` and `publish` are called by one thread."""

    def __init__(self, config: Config, listeners: Sequence[Listener], actions: Actions) -> None:
        settings = startup(config, listeners)
        self._granularity = series_granularity(config.metrics)
        self._listeners = listeners
        self._actions = actions
        self._commits: dict[str, CommitsFile] = {}
        self._log = ChangeLog()
        self._count = 1
        empty = _BoardFiles(self._count, [self._write(Board(moment_ms=0))])
        count = WORKERS if listeners else 0
        self._workers = [_Worker(settings, self._do, empty) for _ in range(count)]

    def store(self, cluster: str, arrays: WindowArrays) -> StoredWindows:
        """Write the changed windows for the next board. No commits may be folded meanwhile."""
        return self._commits.setdefault(cluster, CommitsFile()).store(arrays)

    def publish(self, board: Board) -> None:
        """From now on requests are answered from this board."""
        self._count += 1
        commits = [cluster.windows.file for cluster in board.clusters.values()]
        files = _BoardFiles(self._count, [self._write(board), *commits])
        for worker in self._workers:
            worker.offer(files)

    def _write(self, board: Board) -> SharedFile:
        return writer.write(board, self._granularity, process_facts(), self._log)

    def wait_taken(self, seconds: float = TAKEN_SECONDS) -> bool:
        """Wait until every worker answers from the latest board; False if one takes too long."""
        return all(worker.wait_taken(self._count, seconds) for worker in self._workers)

    def pids(self) -> list[int]:
        return [worker.pid for worker in self._workers]

    def _do(self, call: Call) -> Result:
        try:
            value = self._act(call.action)
        except Exception:
            name = call.action.__struct_config__.tag
            log.exception("the action of a request failed", action=name)
            return Result(call.number, problem=FAILED)
        if value is None:  # a change: the next request must show it, whichever worker answers
            self.wait_taken()
        return Result(call.number, value)

    def _act(self, action: Action) -> str | None:
        """Carry it out. The value it returns; None for a change."""
        match action:
            case DeleteGroup(cluster, group, topic):
                self._actions.delete_group(cluster, group, topic)
            case SetLevel(level):
                self._actions.set_level(level)
            case GetLevel():
                return self._actions.get_level()
            case ListSilences() | AddSilence() | EndSilence():
                return self._actions.silences(action)
            case ReportOffsets(reports):
                return self._actions.report_offsets(reports)
            case RecentHistory() | TableHistory() | HistoryProgress() | PeriodReport():
                return self._of_the_past(action)
            case _:
                assert_never(action)
        return None

    def _of_the_past(self, action: OfHistory) -> str:
        match action:
            case RecentHistory(question):
                return self._actions.recent_history(question)
            case TableHistory(question):
                return self._actions.group_history(question)
            case HistoryProgress(ticket):
                return msgspec.json.encode(self._actions.history_progress(ticket)).decode()
            case PeriodReport(question):
                return self._actions.history_report(question)

    def stop(self) -> None:
        for worker in self._workers:
            worker.stop()
        for listener in self._listeners:
            listener.socket.close()


def start(config: Config, listeners: Sequence[Listener], actions: Actions) -> Serving:
    """Answer requests on these sockets, from an empty board at first."""
    return Serving(config, listeners, actions)
