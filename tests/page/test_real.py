"""The page of a Warren that follows a real broker."""

from pathlib import Path

from e2e.kafka import CLASSIC, Kafka, commit, wait_assigned
from e2e.watching import eventually, source, storage, watching
from page.conftest import Look
from playwright.sync_api import expect
from pyspark.sql import SparkSession

from warren.demo.broker import Broker

TOPIC, GROUP = "paged", "paged <b>group"


def test_every_view_shows_what_a_broker_holds(
    spark: SparkSession, broker: Broker, look: Look, tmp_path: Path
) -> None:
    kafka = Kafka(broker.bootstrap)
    kafka.make_topic(TOPIC, 100, 50)
    config = source("local", broker.bootstrap) + storage(intervals=3)
    with (
        watching(spark, tmp_path, config) as watched,
        kafka.member(GROUP, TOPIC, CLASSIC, client="paged-1") as member,
    ):
        wait_assigned(member)
        commit(member, TOPIC, {0: 30, 1: 50})
        eventually(lambda: watched.committed("local", GROUP), {TOPIC: [30, 50]})
        eventually(watched.is_ready, expected=True)

        page = look(watched, "#/?q=paged")
        row = page.locator(".list .rows .row:not([hidden])")
        expect(row).to_have_count(1)
        expect(row.locator(".lag")).to_have_text("70")
        commit(member, TOPIC, {0: 40})
        expect(row.locator(".lag")).to_have_text("60", timeout=20_000)
        row.locator("a").click()
        expect(page.locator("h1")).to_have_text(GROUP)
        page.get_by_role("region", name="Members").get_by_text("paged-1").wait_for()
        page.get_by_role("region", name="Partitions").get_by_role("link").first.click()
        page.get_by_role("region", name="Groups").get_by_text(GROUP).wait_for()
        page.get_by_role("link", name="Health").click()
        page.get_by_text("caught up").wait_for()
        page.goto("about:blank")
