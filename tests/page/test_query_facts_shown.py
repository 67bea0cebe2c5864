"""A group's page says where its offsets come from, if its program keeps them itself."""

from collections.abc import Iterator

import pytest
from page.conftest import Look
from playwright.sync_api import expect
from support.boards import board
from support.http_side import Running, running
from support.reported import NOW_MS, consumer, judged, news, report

from warren.pipeline.reported_offsets import ReportCheck

ERROR = "<img src=x onerror=alert(1)> the target is full"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    jobs = consumer()
    failed = report(query=news(has_ended=True, error=ERROR), at_ms=NOW_MS + 1)
    ReportCheck([jobs]).take([report(("orders", 0, 40), query=news()), failed])
    jobs.fold(jobs.collect())
    with running(tmp_path_factory.mktemp("queries")) as started:
        started.publish(board(local=judged(jobs)))
        yield started


def test_a_group_says_where_its_offsets_come_from(look: Look, server: Running) -> None:
    page = look(server, "#/group/local/job")

    expect(page.get_by_text("Its offsets come from the listener in its job")).to_be_visible()
    expect(page.get_by_text("The query: name q, id i, run 1.")).to_be_visible()
    expect(page.get_by_text(f"It failed 0 s ago: {ERROR}.")).to_be_visible()
    expect(page.get_by_text("Its query failed 0 s ago").first).to_be_visible()
