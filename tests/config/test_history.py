"""The section that turns history on."""

from pathlib import Path

import pytest
from support.config_files import MINIMAL, load_text

from warren.errors import ConfigError


def test_nothing_is_kept_unless_asked_for(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, MINIMAL + '[general]\nstate-dir = "state"\n')

    assert loaded.config.history is None


def test_an_empty_section_keeps_everything_a_month(tmp_path: Path) -> None:
    history = load_text(tmp_path, MINIMAL + "[history]\n").config.history

    assert history is not None
    assert (history.history_interval, history.history_days) == (60, 30)
    assert history.history_granularity == "partition"


def test_where_history_is(tmp_path: Path) -> None:
    state = '[general]\nstate-dir = "/state"\n'
    cases = {
        "nothing said": ("[history]\n", str(Path("warren-history").absolute())),
        "a state directory": (state + "[history]\n", "/state/history"),
        "a directory": (state + '[history]\ndirectory = "/kept"\n', "/kept"),
        "from here": ('[history]\ndirectory = "kept"\n', str(Path("kept").absolute())),
        "a URL": ('[history]\ndirectory = "s3a://bucket/kept"\n', "s3a://bucket/kept"),
    }

    wrong = [
        name
        for name, (text, expected) in cases.items()
        if load_text(tmp_path, MINIMAL + text).config.history_directory != expected
    ]

    assert wrong == []


def test_an_unknown_granularity_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="history-granularity"):
        load_text(tmp_path, MINIMAL + '[history]\nhistory-granularity = "coarse"\n')
