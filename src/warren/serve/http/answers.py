"""What a client takes, and what goes back to it, whole or piece by piece."""

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


GZIP = 31  # zlib's number for it


async def whole(stream: Stream, accept_encoding: str) -> Answer:
    """All pieces as one answer, packed if the client takes that."""
    body = await joined(stream.chunks)
    if not accepts_gzip(accept_encoding):
        return Answer(stream.status, stream.headers, body)
    headers = [*stream.headers, ("content-encoding", "gzip")]
    return Answer(stream.status, headers, await packed(body))


async def joined(chunks: Iterator[bytes]) -> bytes:
    some = []
    for chunk in chunks:
        some.append(chunk)
        await asyncio.sleep(0)  # others are to be answered too
    return b"".join(some)


async def packed(body: bytes) -> bytes:
    """Zlib lets go of the interpreter: the others are answered meanwhile."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, lambda: zlib.compress(body, 1, GZIP))
