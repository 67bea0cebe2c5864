"""The served OpenAPI document is true: what it allows is answered as it says, the rest refused."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import positive_data_acceptance
from support.boards import NOW_S, board, cluster_board, windows_of, with_words
from support.history_rows import group, log_end, moment
from support.http_side import CONFIG, Actions, Running, ask, running
from support.reported import consumer

from warren.history.memory_queries import InMemory
from warren.history.report.formats import as_tables
from warren.history.report.summary import make
from warren.model.history_question import HistoryQuestion, ReportQuestion
from warren.model.period import Period
from warren.pipeline.reported_offsets import ReportCheck

ENDS = {"orders": [100, 200]}
THEN = Period((NOW_S - 60) * 1000, (NOW_S + 1) * 1000)
PAST = InMemory(moment(NOW_S * 1000, [group("billing", 3, 90), log_end("orders", 0, 100)]))
COMMITS = [("billing", "orders", 0, 10, NOW_S * 1000)]


@pytest.fixture(scope="module", params=["", "[history]\n"], ids=["no history", "history"])
def server(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("openapi")
    with running(folder, CONFIG + request.param, Telling()) as started:
        windows = windows_of(ENDS, COMMITS)
        judged = with_words(cluster_board(windows, ENDS), windows, {})
        started.publish(board(local=judged))
        yield started


class Telling(Actions):
    """Has a history of every group but one, and takes reports."""

    def __init__(self) -> None:
        super().__init__()
        self.reports = ReportCheck([consumer()])

    def group_history(self, question: HistoryQuestion) -> str:
        if question.group == "billing":
            return '{"code":503,"answer":{"error":true,"message":"Spark is busy"}}'
        told = msgspec.json.encode(history(question.cluster, question.group, *question.period))
        return f'{{"code":200,"answer":{told.decode()}}}'

    def history_report(self, question: ReportQuestion) -> str:
        if question.cluster:
            return '{"code":503,"answer":{"error":true,"message":"Spark is busy"}}'
        told = msgspec.json.encode(as_tables(make(PAST, THEN, question.top)))
        return f'{{"code":200,"answer":{told.decode()}}}'


def history(cluster: str, group: str, since_ms: int, until_ms: int) -> dict[str, Any]:
    lists = ("times_ms", "lag", "max_lag", "age_s", "status", "offset", "incidents")
    columns = ("times_ms", "partitions", "lag", "status")
    heat_map: dict[str, Any] = {name: [] for name in columns}
    return {
        "cluster": cluster,
        "group": group,
        "since_ms": since_ms,
        "until_ms": until_ms,
        "moments": 0,
        "step_ms": 1000,
        **{name: [] for name in lists},
        "heat_map": {"step_ms": 1000, "total": 0, **heat_map},
    }


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
    # No schema says which topics there are, or which texts are times.
    is_open = operation.method.upper() == "POST" or operation.path == "/v4/report"
    excluded: Any = [positive_data_acceptance] if is_open else []

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    def every(case: Case[Any]) -> None:
        case.call_and_validate(base_url=f"http://127.0.0.1:{port}", excluded_checks=excluded)

    every()
