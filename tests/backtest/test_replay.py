"""History replayed under other policies: what Warren would have said, and whom it would page."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession
from support.scenario_history import Incident, KeptHistory, history_of
from support.situations import situations

from warren.backtest.page_times import DID, WOULD, page_times
from warren.backtest.replay import Replayed, Where, moments_of, replay
from warren.backtest.stance import Stance
from warren.backtest.verdict_runs import COLUMNS, Question, find_runs
from warren.history import table
from warren.model.period import Period
from warren.model.policies import Policy
from warren.model.silence import Silence
from warren.model.tables import PARTITION, WORDS
from warren.notify import incidents
from warren.terminal.backtest_command import NothingThen, NoWords, replay_or_say_why

EVER = Period(0, 10**13)


def stance(
    *policies: Policy, says_words: bool = True, silences: tuple[Silence, ...] = ()
) -> Stance:
    notifiers = {"page": incidents.Policy("page", send_once=True)}
    return Stance(says_words, 0, policies, silences, notifiers)


def replayed_here(
    rows: pa.Table, did: Stance, would: Stance
) -> tuple[list[dict[str, object]], int]:
    """Without Spark, in one part: the pages, and how many verdicts differ in force."""
    own = rows.filter(pc.field("kind") == PARTITION).select(COLUMNS)
    question = Question(did, would, {"c": np.unique(own["moment_ms"].to_numpy())})
    runs = pa.concat_tables(find_runs(own, "c", question))
    bad = runs.filter(runs["group"].is_valid())
    return page_times(bad, question).to_pylist(), pc.sum(runs["differing"]).as_py()


def told(pages: list[dict[str, object]], side: str, kept: KeptHistory) -> set[Incident]:
    """Of each scenario, until its end."""
    found = {
        Incident(str(each["group"]), int(str(each["began_ms"])))
        for each in pages
        if each["side"] == side
    }
    return {each for each in found if each.opened_ms <= kept.until_ms[prefix(each.group)]}


def prefix(group: str) -> str:
    return group.partition(".")[0] + "."


def test_the_replay_says_what_warren_would_have_said_with_these_policies(
    plain: KeptHistory, ruled: KeptHistory
) -> None:
    pages, differing = replayed_here(plain.rows, stance(), stance(*ruled.policies))

    assert differing == 0
    assert told(pages, DID, plain) == plain.incidents
    assert told(pages, WOULD, ruled) == ruled.incidents
    assert plain.incidents - ruled.incidents  # the policies change something, in both directions
    assert ruled.incidents - plain.incidents


@pytest.fixture(scope="module")
def directory(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, ruled: KeptHistory
) -> str:
    """In two commits, so in several files."""
    place = str(tmp_path_factory.mktemp("history") / "table")
    own = table.session(spark)
    table.make(own, place)
    moments = ruled.rows["moment_ms"].to_numpy()
    middle = np.median(moments)
    table.append(own, place, ruled.rows.filter(pa.array(moments <= middle)), "first")
    table.append(own, place, ruled.rows.filter(pa.array(moments > middle)), "second")
    return place


@pytest.fixture(scope="module")
def on_spark(spark: SparkSession, directory: str, ruled: KeptHistory) -> Replayed:
    """With the settings in force on both sides."""
    where, in_force = Where(directory, EVER), stance(*ruled.policies)
    return replay(spark, where, moments_of(spark, where), (in_force, in_force))


def test_with_the_settings_in_force_it_pages_as_it_did(
    on_spark: Replayed, ruled: KeptHistory
) -> None:
    pages = on_spark.pages.to_pylist()

    assert on_spark.differing == 0
    assert on_spark.replayed == len(ruled.rows.filter(pc.field("kind") == PARTITION))
    assert told(pages, DID, ruled) == ruled.incidents
    sides = [
        sorted(str(each | {"side": ""}) for each in pages if each["side"] == side)
        for side in (DID, WOULD)
    ]
    assert sides[0] == sides[1]


def test_on_spark_it_comes_to_the_same_as_in_one_part(
    on_spark: Replayed, ruled: KeptHistory
) -> None:
    pages, _ = replayed_here(ruled.rows, *[stance(*ruled.policies)] * 2)

    assert sorted(map(str, on_spark.pages.to_pylist())) == sorted(map(str, pages))


def test_what_cannot_be_replayed_is_said_in_one_line(spark: SparkSession, directory: str) -> None:
    late, whole = Period(10**12 * 2, 10**12 * 3), Where(directory, EVER)
    cases = {
        whole._replace(group="nobody"): "history has nothing of group nobody from ",
        whole._replace(cluster="d"): "history has nothing of cluster d; its clusters are: c",
        whole._replace(period=late): "until 2023-11-14 23:13:20 UTC",
    }

    for where, expected in cases.items():
        with pytest.raises(NothingThen) as refused:
            replay_or_say_why(spark, where, (stance(), stance()))
        assert expected in str(refused.value)
        assert "\n" not in str(refused.value)


def test_data_that_are_too_old_close_no_incident_in_a_replay() -> None:
    """A partition that has stopped has no leader for a while; it pages once."""
    (leaderless,) = (each for each in situations() if each["id"] == "g1leaderless")
    kept = history_of([leaderless])

    pages, differing = replayed_here(kept.rows, stance(), stance(Policy("other", grace_s=1)))

    assert differing == 0
    assert [(each["side"], each["verdict"]) for each in pages] == [(DID, "STOP"), (WOULD, "STOP")]


def without_words(rows: pa.Table) -> pa.Table:
    for name in WORDS:
        nothing = pa.nulls(len(rows), rows.schema.field(name).type)
        rows = rows.set_column(rows.column_names.index(name), name, nothing)
    return rows


def test_history_of_an_older_warren_has_burrows_verdicts_and_no_words(
    spark: SparkSession, tmp_path: Path, plain: KeptHistory
) -> None:
    old = without_words(plain.rows)
    by_burrow = stance(says_words=False)
    pages, _ = replayed_here(old, by_burrow, by_burrow)
    table.make(table.session(spark), str(tmp_path))
    table.append(table.session(spark), str(tmp_path), old, "old")

    with pytest.raises(NoWords) as refused:
        replay_or_say_why(spark, Where(str(tmp_path), EVER), (by_burrow, stance()))

    assert {each["verdict"] for each in pages if each["side"] == DID} >= {"STOP", "STALL"}
    assert "choose --evaluator caching" in str(refused.value)


def test_policies_silences_and_evaluators_decide_who_is_paged(plain: KeptHistory) -> None:
    night = Silence(id="night", end_s=2e9)
    cases = {
        "nobody, as all is ignored": stance(Policy("quiet", ignore=True)),
        "nobody, as all is silenced": stance(silences=(night,)),
        "nobody, as nothing lasts so long": stance(Policy("late", grace_s=1e6)),
        "nobody, as nobody is to be told": stance(Policy("mute", notify=())),
    }
    wrong = {
        name: pages
        for name, would in cases.items()
        if (pages := told(replayed_here(plain.rows, stance(), would)[0], WOULD, plain))
    }
    by_burrow, _ = replayed_here(plain.rows, stance(), stance(says_words=False))

    assert wrong == {}
    assert told(by_burrow, DID, plain) == plain.incidents
    assert told(by_burrow, WOULD, plain) != plain.incidents
