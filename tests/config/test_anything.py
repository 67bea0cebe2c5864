"""Whatever a file holds, it loads or is refused in lines."""

import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from warren.config import load, render_effective
from warren.config.config import NAMED, SINGLE
from warren.config.keys import keys_of
from warren.errors import ConfigError

WORDS = (
    ["", "x", "1", "-3", "true", "a:1", "h:99999", "[::1]:1", "/a", "(", "\0", "a\nb", "(\n", "."]
    + ["local", "2.8.0", "http://u:p@h/", "SCRAM-SHA-256"]
    + [class_name for classes in NAMED.values() for class_name in classes]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from(WORDS),
    st.text(max_size=5),
)
VALUES = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.text(max_size=3), SCALARS)
STRUCTS = [*SINGLE.values(), *(each for classes in NAMED.values() for each in classes.values())]
KEYS = st.sampled_from(sorted({key.name for struct in STRUCTS for key in keys_of(struct)}))
SECTIONS = st.dictionaries(KEYS | st.just("class-name"), VALUES, max_size=6)
NAMES = st.sampled_from(["local", "Local", "x.y", "", "default", "a\nb"])
FILES = st.dictionaries(
    st.sampled_from([*SINGLE, *NAMED, "other"]),
    SECTIONS | st.dictionaries(NAMES, SECTIONS | SCALARS, max_size=3) | SCALARS,
    max_size=6,
)


@given(tables=FILES)
@settings(
    # Each example overwrites the file; a busy machine is no fault of the examples.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_a_file_loads_or_is_refused_in_lines(tmp_path: Path, tables: dict[str, Any]) -> None:
    file = tmp_path / "burrow.json"
    file.write_text(json.dumps(tables))

    problems, shown = outcome(file)

    assert problems or shown.startswith("[general]\n")
    assert [problem for problem in problems if "\n" in problem] == []


def outcome(file: Path) -> tuple[list[str], str]:
    try:
        return [], render_effective(load(file, {}))
    except ConfigError as error:
        return error.problems, ""
