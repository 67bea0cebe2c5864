"""The served OpenAPI document is true: what it allows is answered as it says, the rest refused."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation
from serve.boards import NOW_S, board, cluster_board, windows_of
from serve.running import Running, ask, running

ENDS = {"orders": [100, 200]}
COMMITS = [("billing", "orders", 0, 10, NOW_S * 1000)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("openapi")) as started:
        started.publish(board(local=cluster_board(windows_of(ENDS, COMMITS), ENDS)))
        yield started


def test_answers_are_as_documented(server: Running) -> None:
    document = ask(server.port, "/v4/openapi.json").json
    schema = schemathesis.openapi.from_dict(document).exclude(path="/v4/events")  # does not end
    operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]

    for operation in operations:
        check(operation, GenerationMode.POSITIVE, server.port)
        if operation.query:
            check(operation, GenerationMode.NEGATIVE, server.port)

    assert len(operations) == len(document["paths"]) - 1


def check(operation: APIOperation[Any, Any, Any, Any], mode: GenerationMode, port: int) -> None:
    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    def every(case: Case[Any]) -> None:
        case.call_and_validate(base_url=f"http://127.0.0.1:{port}")

    every()
