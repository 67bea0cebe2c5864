"""Keys of the shared state as bytes: group names need not be UTF-8, and come as surrogates."""

from collections.abc import Mapping


def encoded(changes: Mapping[str, bytes | None]) -> dict[bytes, bytes | None]:
    return {key.encode("utf-8", "surrogateescape"): value for key, value in changes.items()}


def decoded(state: Mapping[bytes, bytes]) -> dict[str, bytes]:
    return {key.decode("utf-8", "surrogateescape"): value for key, value in state.items()}
