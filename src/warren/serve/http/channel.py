"""Messages between the pipeline's process and a worker, with open files attached.

Each message is its length, then JSON. When one process ends for any reason, the other sees the end
of the stream, so no worker outlives the pipeline.
"""

import socket
import struct
from collections.abc import Sequence

import msgspec

from warren.model.history_question import HistoryQuestion, ReportQuestion
from warren.model.offset_reports import Report

HEAD = struct.Struct("<IH")  # number of bytes, number of files
FILES_AT_ONCE = 200  # the kernel takes up to 253 in one call


class Offer(msgspec.Struct, tag="offer"):
    """A new board. The first file is the board, then one file of commits for each cluster."""

    number: int


class Taken(msgspec.Struct, tag="taken"):
    """The worker answers from this board now and is ready for the next."""

    number: int


class DeleteGroup(msgspec.Struct, tag="delete_group"):
    cluster: str
    group: str
    topic: str | None = None  # None: all of them


class GetLevel(msgspec.Struct, tag="get_level"):
    """Read the log level."""


class SetLevel(msgspec.Struct, tag="set_level"):
    level: str


class RecentHistory(msgspec.Struct, tag="recent_history"):
    """The part of history that is in memory: the reply is immediate."""

    question: HistoryQuestion


class TableHistory(msgspec.Struct, tag="group_history"):
    """History from the table: the reply may take long."""

    question: HistoryQuestion


class HistoryProgress(msgspec.Struct, tag="history_progress"):
    """How far `TableHistory` is with the question of this ticket: the reply is immediate."""

    ticket: str


class PeriodReport(msgspec.Struct, tag="period_report"):
    """A report from the table: the reply may take long."""

    question: ReportQuestion


class Requester(msgspec.Struct):
    """Who wants a change, as far as we see it ourselves."""

    address: str
    token: str  # whose it has; empty: nobody's


class ListSilences(msgspec.Struct, tag="list_silences"):
    """Read the silences: all, or those of one group, where its name is not empty."""

    cluster: str = ""
    group: str = ""


class AddSilence(msgspec.Struct, tag="add_silence"):
    body: str
    by: Requester


class EndSilence(msgspec.Struct, tag="end_silence"):
    number: str
    by: Requester


class ReportOffsets(msgspec.Struct, tag="report_offsets"):
    """Offsets that a program reports."""

    reports: list[Report]


OfSilences = ListSilences | AddSilence | EndSilence
OfHistory = RecentHistory | TableHistory | HistoryProgress | PeriodReport
Action = DeleteGroup | GetLevel | SetLevel | OfHistory | OfSilences | ReportOffsets


class Call(msgspec.Struct, tag="call"):
    """A worker requests one of `Actions`."""

    number: int
    action: Action


class Result(msgspec.Struct, tag="result"):
    number: int
    value: str | None = None
    problem: str | None = None


class Failed(msgspec.Struct, tag="failed"):
    """A worker could not answer a request; the pipeline logs it."""

    method: str
    path: str
    problem: str
    trace: str = ""


Message = Offer | Taken | Call | Result | Failed


def send(stream: socket.socket, message: Message, files: Sequence[int] = ()) -> None:
    body = msgspec.json.encode(message)
    head = HEAD.pack(len(body), len(files))
    first, rest = files[:FILES_AT_ONCE], files[FILES_AT_ONCE:]
    sent = socket.send_fds(stream, [head], first) if first else stream.send(head)
    stream.sendall(head[sent:])
    while rest:
        first, rest = rest[:FILES_AT_ONCE], rest[FILES_AT_ONCE:]
        socket.send_fds(stream, [b"\0"], first)
    stream.sendall(body)


def receive(stream: socket.socket) -> tuple[Message, list[int]] | None:
    """The next message and its files, which the caller closes; None at the end of the stream."""
    head, files = b"", list[int]()
    while len(head) < HEAD.size:
        data, more, _, _ = socket.recv_fds(stream, HEAD.size - len(head), FILES_AT_ONCE)
        files += more
        head += data
        if not data:
            return None
    size, count = HEAD.unpack(head)
    while len(files) < count:
        _, more, _, _ = socket.recv_fds(stream, 1, FILES_AT_ONCE)
        files += more
    body = _receive_exactly(stream, size)
    return None if body is None else (msgspec.json.decode(body, type=Message), files)


def _receive_exactly(stream: socket.socket, size: int) -> bytes | None:
    body = bytearray()
    while len(body) < size:
        data = stream.recv(size - len(body))
        if not data:
            return None
        body += data
    return bytes(body)
