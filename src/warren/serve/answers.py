"""What goes back to a client."""

from collections.abc import AsyncGenerator, Iterator
from typing import NamedTuple

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"


class Answer(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: bytes


class Stream(NamedTuple):
    """An answer that is made piece by piece: others are answered between two pieces."""

    status: int
    headers: list[tuple[str, str]]
    chunks: Iterator[bytes]


class Endless(NamedTuple):
    """An answer that goes on until the client leaves."""

    status: int
    headers: list[tuple[str, str]]
    chunks: AsyncGenerator[bytes]


class Request(NamedTuple):
    """`path` is decoded. Only a POST has a body."""

    method: str
    path: str
    query: str = ""
    accept: str = ""
    accept_encoding: str = ""
    body: bytes = b""
