"""What a configuration that loads is told all the same."""

from pathlib import Path

from support.config_files import MINIMAL, load_text


def test_what_is_done_is_passed_over(tmp_path: Path) -> None:
    assert load_text(tmp_path, MINIMAL).warnings == []


def test_nothing_to_monitor_is_said(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, "")

    assert loaded.warnings == ["cluster: there is no [cluster.NAME]: nothing to monitor"]


def test_history_on_the_disks_of_a_sparks_machines_is_warned_of(tmp_path: Path) -> None:
    spark = '[spark]\nmaster = "spark://one:7077"\n'
    paths = {
        "[history]\n": 1,
        '[history]\ndirectory = "/shared/history"\n': 1,
        '[history]\ndirectory = "s3a://bucket/history"\n': 0,
        "": 0,
    }

    told = {text: load_text(tmp_path, MINIMAL + spark + text).warnings for text in paths}
    local = load_text(tmp_path, MINIMAL + "[history]\n").warnings

    assert {text: len(warnings) for text, warnings in told.items()} == paths
    assert told["[history]\n"][0].startswith("history.directory: it is a path, and Spark runs on")
    assert local == []


def test_secrets_in_options_of_java_on_other_machines_are_warned_of(tmp_path: Path) -> None:
    conf = (
        '[spark.conf]\n"spark.executor.extraJavaOptions" = "-Dproxy.password=x"\n'
        '"spark.driver.extraJavaOptions" = "-Dproxy.password=x"\n'
        '"spark.yarn.am.extraJavaOptions" = "-Xss8m"\n'
    )
    spark = '[spark]\nmaster = "spark://one:7077"\n'

    cluster = load_text(tmp_path, MINIMAL + spark + conf).warnings
    local = load_text(tmp_path, MINIMAL + conf).warnings

    assert [line.partition(": ")[0] for line in cluster] == [
        "spark.conf.spark.executor.extraJavaOptions"
    ]
    assert local == []
