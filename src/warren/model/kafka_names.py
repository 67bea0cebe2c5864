"""Names as Kafka has them: bytes that need not be UTF-8.

In Python, each byte that is not UTF-8 is a lone surrogate, which turns back into the same byte.
"""

import re

_NOT_UTF8 = re.compile("[\ud800-\udfff]")


def from_bytes(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def to_bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def readable(name: str) -> str:
    """A name as valid text: each byte that is not UTF-8 becomes U+FFFD, as in Go."""
    return _NOT_UTF8.sub("\ufffd", name)
