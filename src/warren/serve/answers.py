"""What goes back to a client, and JSON exactly as Burrow writes it."""

from collections.abc import AsyncIterator, Iterator
from functools import lru_cache
from typing import NamedTuple

import msgspec
import numpy as np

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"


class Answer(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: bytes


class Stream(NamedTuple):
    """An answer that is sent while it is made."""

    status: int
    headers: list[tuple[str, str]]
    chunks: Iterator[bytes] | AsyncIterator[bytes]


class Request(NamedTuple):
    """`path` is decoded. Only a POST has a body."""

    method: str
    path: str
    query: str = ""
    accept: str = ""
    accept_encoding: str = ""
    body: bytes = b""


def encode(value: object) -> bytes:
    """Go's JSON: what could end a script in a page is escaped, wherever it stands."""
    text = msgspec.json.encode(value)
    for raw, escaped in (
        (b"<", b"\\u003c"),
        (b">", b"\\u003e"),
        (b"&", b"\\u0026"),
        (b"\xe2\x80\xa8", b"\\u2028"),
        (b"\xe2\x80\xa9", b"\\u2029"),
    ):
        if raw in text:
            text = text.replace(raw, escaped)
    return text


@lru_cache(4096)
def number(value: float) -> msgspec.Raw:
    """A 32-bit float in its shortest form: 1, 0.5, 0.33333334."""
    short = np.float32(value)
    if short != 0 and abs(short) < 1e-6:
        text = np.format_float_scientific(short, unique=True, trim="-", exp_digits=1)
    else:
        text = np.format_float_positional(short, unique=True, trim="-")
    return msgspec.Raw(text.encode())
