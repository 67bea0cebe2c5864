"""Leadership by a file lock, for instances on one machine.

The kernel frees the lock however the process that holds it ends. The shared state is an SQLite file
next to it.
"""

import fcntl
import math
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO

from warren.errors import LeadershipLost, StateFileUnusable
from warren.leadership.lease import NOTIFIER, Lease, decode_keys, encode_keys

PAUSE_S = 0.5
TABLE = "CREATE TABLE IF NOT EXISTS state (key BLOB PRIMARY KEY, value BLOB NOT NULL)"


class FileLock:
    def __init__(self, directory: Path, duty: str = NOTIFIER) -> None:
        self._directory = directory
        self._path = directory / "lock"
        self._lease = Lease("file", duty)

    @property
    def leads(self) -> bool:
        return self._lease.is_valid

    @property
    def problem(self) -> str:
        return self._lease.problem

    def run(self, stop: threading.Event) -> None:
        file: IO[bytes] | None = None
        try:
            while not stop.is_set():
                problem = ""
                try:
                    file = self._round(file)
                except OSError as error:
                    problem = f"{self._path}: {error.strerror}"
                self._lease.log_changes(problem)
                stop.wait(PAUSE_S)
        finally:
            self._lease.end()
            if file is not None:
                file.close()
            self._lease.log_changes(self.problem)

    def load(self) -> dict[str, bytes]:
        with self._state() as database:
            return decode_keys(dict(database.execute("SELECT key, value FROM state")))

    def save(self, changes: Mapping[str, bytes | None]) -> None:
        entries = encode_keys(changes)
        deleted = [(key,) for key, value in entries.items() if value is None]
        changed = [(key, value) for key, value in entries.items() if value is not None]
        with self._state() as database:
            database.executemany("DELETE FROM state WHERE key = ?", deleted)
            database.executemany("INSERT OR REPLACE INTO state VALUES (?, ?)", changed)

    def _round(self, file: IO[bytes] | None) -> IO[bytes] | None:
        """Take or keep the lock; return the locked file, open while the lock is ours, or None."""
        if file is not None and not self._is_in_place(file):
            self._lease.end()  # somebody removed it: other instances lock a new file
            file.close()
            file = None
        if file is None:
            file = self._try_to_lock()
        if file is not None:
            self._lease.extend(self._lease.start_request(), math.inf)
        return file

    def _try_to_lock(self) -> IO[bytes] | None:
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = self._path.open("ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return None
        return file

    def _is_in_place(self, file: IO[bytes]) -> bool:
        try:
            return os.path.samestat(os.fstat(file.fileno()), self._path.stat())
        except FileNotFoundError:
            return False

    @contextmanager
    def _state(self) -> Iterator[sqlite3.Connection]:
        """A transaction: committed to disk on exit, or rolled back."""
        if not self.leads:
            raise LeadershipLost("another instance holds the lock")
        path = self._directory / "state.sqlite"
        try:
            with closing(sqlite3.connect(path)) as database, database:
                database.execute(TABLE)
                yield database
        except sqlite3.Error as error:
            raise StateFileUnusable(path, error) from error
