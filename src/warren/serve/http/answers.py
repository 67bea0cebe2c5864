"""What a client accepts, and the answer that is sent to it, whole or in chunks."""

import asyncio
import zlib
from collections.abc import AsyncGenerator, Iterator
from typing import NamedTuple


def accepts_gzip(encodings: str) -> bool:
    return quality(encodings, "gzip") > 0


def quality(header: str, kind: str) -> float:
    """How much a client wants this kind, from 0 to 1; 0 when the header does not name it."""
    for entry in header.lower().split(","):
        name, *parameters = (part.strip() for part in entry.split(";"))
        if name == kind:
            return min((_q(each) for each in parameters), default=1.0)
    return 0.0


def _q(parameter: str) -> float:
    name, _, value = parameter.partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return min(max(float(value), 0.0), 1.0)
    except ValueError:
        return 1.0


JSON = "application/json"
TEXT = "text/plain; charset=utf-8"


class Answer(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: bytes


class Stream(NamedTuple):
    """An answer made chunk by chunk: other requests are answered between two chunks."""

    status: int
    headers: list[tuple[str, str]]
    chunks: Iterator[bytes]


class Endless(NamedTuple):
    """An answer that goes on until the client disconnects."""

    status: int
    headers: list[tuple[str, str]]
    chunks: AsyncGenerator[bytes]


class Request(NamedTuple):
    """`path` is decoded. Only a POST has a body; only a change says who wants it."""

    method: str
    path: str
    query: str = ""
    accept: str = ""
    accept_encoding: str = ""
    body: bytes = b""
    address: str = ""  # of the client, with its port
    token: str = ""  # whose it has: read, write or report; empty: none


GZIP = 31  # the number by which zlib knows gzip


async def whole(stream: Stream, accept_encoding: str) -> Answer:
    """All chunks as one answer, compressed if the client accepts that."""
    body = await join(stream.chunks)
    if not accepts_gzip(accept_encoding):
        return Answer(stream.status, stream.headers, body)
    headers = [*stream.headers, ("content-encoding", "gzip")]
    return Answer(stream.status, headers, await compress(body))


async def join(chunks: Iterator[bytes]) -> bytes:
    parts = []
    for chunk in chunks:
        parts.append(chunk)
        await asyncio.sleep(0)  # other requests get their turn
    return b"".join(parts)


async def compress(body: bytes) -> bytes:
    """In a thread: zlib releases the GIL, so other requests are answered meanwhile."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, lambda: zlib.compress(body, 1, GZIP))
