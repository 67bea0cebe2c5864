"""JSON exactly as Go, and so Burrow, writes it."""

from functools import lru_cache

import msgspec
import numpy as np


def encode(value: object) -> bytes:
    """Escape, as Go does, every character that could end a script in a web page."""
    text = msgspec.json.encode(value)
    for raw, escaped in (
        (b"<", b"\\u003c"),
        (b">", b"\\u003e"),
        (b"&", b"\\u0026"),
        (b"\xe2\x80\xa8", b"\\u2028"),
        (b"\xe2\x80\xa9", b"\\u2029"),
        (b"\xef\xbf\xbd", b"\\ufffd"),  # replaces bytes that are not UTF-8
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
