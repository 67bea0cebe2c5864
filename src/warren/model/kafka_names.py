"""Names as Kafka has them: bytes that need not be UTF-8.

What is no UTF-8 comes as Python's lone surrogates, one for each byte, and goes back the same way.
"""

import re

_NOT_UTF8 = re.compile("[\ud800-\udfff]")


def from_bytes(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def to_bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def readable(name: str) -> str:
    """As text that can be written anywhere: U+FFFD, one for each byte, as Go does it."""
    return _NOT_UTF8.sub("\ufffd", name)
