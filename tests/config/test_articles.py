"""The complete configurations of the articles that describe the wanted system, byte for byte."""

from pathlib import Path

from support.config_files import problems_of

from warren.config import load

ARTICLES = Path(__file__).with_name("articles")


def test_a_configuration_of_burrow_1_1_loads_with_deprecation_warnings() -> None:
    loaded = load(ARTICLES / "000.toml", {})

    consumers = loaded.config.consumers
    assert list(consumers) == ["logis-dev", "logis-dev-zk"]
    assert consumers["logis-dev-zk"].class_name == "kafka_zk"
    assert consumers["logis-dev-zk"].zookeeper_path == "/kafka10"
    assert not consumers["logis-dev"].groups.accepts("console-consumer-1")
    assert consumers["logis-dev"].groups.accepts("logstash")
    assert loaded.config.storage.intervals == 15
    assert loaded.config.httpservers["default"].address == ":8002"
    assert loaded.unknown == []
    assert [warning.partition(": ")[0] for warning in loaded.warnings] == [
        "consumer.logis-dev.group-whitelist",
        "consumer.logis-dev.group-blacklist",
        "consumer.logis-dev-zk.group-whitelist",
        "consumer.logis-dev-zk.group-blacklist",
    ]


def test_a_configuration_of_a_local_cluster_loads_without_a_word() -> None:
    loaded = load(ARTICLES / "004.toml", {})

    assert loaded.config.clusters["local"].servers == ("localhost:9092",)
    assert loaded.config.connection(loaded.config.clusters["local"]).profile.client_id == (
        "burrow-local"
    )
    assert loaded.warnings == []
    assert loaded.unknown == []


def test_snippets_that_are_no_toml_get_one_line_with_the_place(tmp_path: Path) -> None:
    stray = '[notifier.mynotify]\nextras={ key1="value1", key2="value2" }2" }\n'
    unquoted = '[zookeeper]\nservers=["zkhost01.example.com:2181"]\nroot-path=/mypath/burrow\n'

    problems = [problems_of(tmp_path, text) for text in (stray, unquoted)]

    statement = "syntax error: Expected newline or end of document after a statement"
    assert problems == [
        [f"{statement} (at line 2, column 40)"],
        ["syntax error: Invalid value (at line 3, column 11)"],
    ]
