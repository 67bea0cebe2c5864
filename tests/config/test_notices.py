"""What a configuration that loads is told all the same."""

from pathlib import Path

from config_files import MINIMAL, load_text


def test_what_is_done_is_passed_over(tmp_path: Path) -> None:
    assert load_text(tmp_path, MINIMAL).warnings == []


def test_nothing_to_monitor_is_said(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, "")

    assert loaded.warnings == ["cluster: there is no [cluster.NAME]: nothing to monitor"]
