"""The sample configuration and the documentation say what the types say."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from support.config_files import load_text

from warren.config import FrozenMap, Secret, document, load
from warren.config.config import NAMED, SINGLE
from warren.config.document import has_default
from warren.config.keys import Key, keys_of

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "config/burrow.toml"


def sample_with_everything() -> dict[str, Any]:
    """Read the sample with its commented keys and sections put into force."""
    return tomllib.loads(re.sub(r"(?m)^#(?=\[|[a-z-]+ = )", "", SAMPLE.read_text()))


def declared_keys() -> Iterator[tuple[str, Key, list[Any]]]:
    """Yield every declared key with what the sample's sections of its kind give for it."""
    everything = sample_with_everything()
    for kind, struct in SINGLE.items():
        for key in keys_of(struct):
            yield f"{kind}.{key.name}", key, values([everything[kind]], key)
    for kind, classes in NAMED.items():
        for class_name, struct in classes.items():
            for key in keys_of(struct):
                sections = everything[kind].values()
                yield f"{kind}.{class_name}.{key.name}", key, values(sections, key)


def values(sections: Iterable[dict[str, Any]], key: Key) -> list[Any]:
    return [section[key.name] for section in sections if key.name in section]


def test_the_sample_shows_every_key_with_its_true_default() -> None:
    keys = list(declared_keys())

    missing = [path for path, _, shown in keys if not shown]
    wrong = [
        path
        for path, key, shown in keys
        if has_default(key) and key.name != "class-name" and set(shown) != {key.default}
    ]

    assert len(keys) > 100
    assert missing == []
    assert wrong == []


def test_only_empty_values_count_as_no_default() -> None:
    empty = [
        key.default
        for struct in [
            *SINGLE.values(),
            *(s for classes in NAMED.values() for s in classes.values()),
        ]
        for key in keys_of(struct)
        if not key.is_required and not has_default(key)
    ]

    assert all(value in (None, "", (), Secret(), FrozenMap()) for value in empty)
    assert 0 not in empty


def test_the_sample_loads_without_a_word() -> None:
    loaded = load(SAMPLE.parent, {})

    assert loaded.warnings == []
    assert loaded.unknown == []


def test_what_the_sample_sets_is_what_an_empty_file_gives(tmp_path: Path) -> None:
    sample, empty = load(SAMPLE, {}).config, load_text(tmp_path, "").config

    assert sample.general == empty.general
    assert sample.logging == empty.logging
    assert sample.spark == empty.spark
    assert sample.storage == empty.storage
    assert sample.evaluator == empty.evaluator


def test_the_sample_is_current() -> None:
    assert SAMPLE.read_text() == document.toml()


def test_the_documentation_is_current() -> None:
    assert (ROOT / "docs/configuration.md").read_text() == document.markdown()
