"""Kafka versions, short old forms included."""

import re

# Forms from before Kafka's versions settled on three numbers; an empty one was once the default.
_OLD = {
    "": "0.10.2.0",
    "0.8": "0.8.2.0",
    "0.8.0": "0.8.2.0",
    "0.8.1": "0.8.2.1",
    "0.8.2": "0.8.2.2",
}
_FULL = re.compile(r"0\.\d+\.\d+\.\d+|[1-9]\d*\.\d+\.\d+")
_SHORT = re.compile(r"0\.(?:9|10|11)(?:\.\d+)?")


def resolve(text: str) -> str:
    """Give the full form, as `0.10` is `0.10.0.0`; raises ValueError for what is no version."""
    if text in _OLD:
        return _OLD[text]
    if _SHORT.fullmatch(text):
        return text + ".0" * (3 - text.count("."))
    if not _FULL.fullmatch(text):
        raise ValueError("not a Kafka version")
    return text


def kafka_version(text: str) -> str:
    """Accept a version and keep it as written: the HTTP API shows it so."""
    resolve(text)
    return text
