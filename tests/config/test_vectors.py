"""Burrow's own and observed answers about hosts, paths and versions."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from warren.config import keys

VECTORS: dict[str, list[dict[str, Any]]] = json.loads(
    Path(__file__, "../../conformance/vectors/notifier-config.json").resolve().read_text()
)


def accepts(check: Callable[[str], str], text: str) -> bool:
    try:
        check(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    ("kind", "check"),
    [
        ("host_port", keys.host_port),
        ("hostname", keys.host_name),
        ("zookeeper_path", keys.zookeeper_path),
    ],
)
def test_what_burrow_accepts_is_accepted(kind: str, check: Callable[[str], str]) -> None:
    cases = VECTORS[kind]

    wrong = [case for case in cases if accepts(check, case["value"]) != case["valid"]]

    assert cases
    assert wrong == []


def test_kafka_versions_resolve_as_burrow_resolves_them() -> None:
    def resolved(text: str) -> str | None:
        return keys.resolve(text) if accepts(keys.resolve, text) else None

    cases = VECTORS["kafka_version"]

    wrong = [case for case in cases if resolved(case["value"]) != case["resolves_to"]]

    assert cases
    assert wrong == []


def test_the_versions_an_article_lists_are_versions() -> None:
    listed = "0.8 0.8.0 0.8.1 0.8.2 0.9 0.9.0 0.9.0.0 0.9.0.1 0.10 0.10.0 0.10.0.0 0.10.0.1"
    listed += " 0.10.1 0.10.1.0 0.10.2 0.10.2.0"

    refused = [text for text in listed.split() if not accepts(keys.resolve, text)]

    assert refused == []


def test_a_server_listens_where_burrow_lets_it() -> None:
    cases = {
        ":0": True,
        ":8000": True,
        "0.0.0.0:8000": True,
        "[::1]:8000": True,
        "localhost:8000": True,
        "8000": False,
        "": False,
        ":65536": False,
        ":-1": False,
        ":http": False,
        "::1:8000": False,
    }

    wrong = [text for text, ok in cases.items() if accepts(keys.listen_address, text) != ok]

    assert wrong == []
