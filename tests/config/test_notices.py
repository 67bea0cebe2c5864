"""What a configuration that loads is told all the same."""

from pathlib import Path

from config_files import MINIMAL, load_text

UNDONE = """
[general]
state-dir = "state"
[zookeeper]
servers = ["zk:2181"]
[consumer.old]
class-name = "kafka_zk"
cluster = "local"
servers = ["zk:2181"]
[consumer.storm]
class-name = "storm"
cluster = "local"
servers = ["zk:2181"]
[notifier.one]
class-name = "slack"
[notifier.two]
class-name = "alertmanager"
"""


def test_what_is_not_done_yet_is_said(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, MINIMAL + UNDONE)

    assert loaded.warnings == [
        "consumer.old: consumers of class kafka_zk are not read by this version yet",
        "consumer.storm: consumers of class storm are not read by this version yet",
        "notifier.one: notifications are not sent by this version yet",
        "notifier.two: notifications are not sent by this version yet",
        "general.state-dir: not used by this version yet",
    ]


def test_what_is_done_is_passed_over(tmp_path: Path) -> None:
    assert load_text(tmp_path, MINIMAL).warnings == []


def test_nothing_to_monitor_is_said(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, "")

    assert loaded.warnings == ["cluster: there is no [cluster.NAME]: nothing to monitor"]
