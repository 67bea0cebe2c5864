from pathlib import Path

import pytest
from support.config_files import MINIMAL, load_text, problems_of

from warren.config import load
from warren.errors import ConfigError

IN_YAML = """
Cluster:
  Local: {class-name: kafka, servers: [localhost:9092]}
consumer:
  local:
    class-name: kafka
    cluster: LOCAL
    servers: localhost:9092 localhost:9093
    start-latest: true
client-profile:
  p: {kafka-version: 0.10, client-id: on}
"""
IN_JSON = """{"cluster": {"local": {"class-name": "kafka", "servers": ["localhost:9092"]}},
 "storage": {"s": {"class-name": "inmemory", "intervals": "15", "min-distance": null}}}"""
IN_DOTENV = """
# a comment
CLUSTER.LOCAL.CLASS-NAME=kafka
export cluster.local.servers="localhost:9092 localhost:9093"
general.pidfile='a # b'  # another
storage.default.class-name: inmemory
"""


def problems_with(path: Path) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(path, {})
    return caught.value.problems


def test_a_directory_is_searched_in_burrows_order(tmp_path: Path) -> None:
    (tmp_path / "burrow.toml").write_text(MINIMAL)
    (tmp_path / "burrow.yaml").write_text(IN_YAML)
    first = load(tmp_path, {}).path
    (tmp_path / "burrow.json").write_text(IN_JSON)
    second = load(tmp_path, {}).path

    assert (first.name, second.name) == ("burrow.toml", "burrow.json")


def test_yaml_loads_and_leaves_the_meaning_of_scalars_to_the_keys(tmp_path: Path) -> None:
    config = load_text(tmp_path, IN_YAML, name="burrow.yml").config

    assert config.clusters["local"].servers == ("localhost:9092",)
    assert config.consumers["local"].servers == ("localhost:9092", "localhost:9093")
    assert config.consumers["local"].start_latest is True
    assert config.client_profiles["p"].kafka_version == "0.10"
    assert config.client_profiles["p"].client_id == "on"


def test_a_section_without_keys_is_empty(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, "general:\nstorage:\nsasl:\n  s:\n", name="burrow.yaml")

    assert loaded.config.storage.name == "default"
    assert loaded.unknown == []


def test_json_loads_and_null_is_not_set(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, IN_JSON, name="burrow.json")

    assert loaded.config.storage.name == "s"
    assert loaded.config.storage.intervals == 15
    assert loaded.origins["storage.s.min-distance"] == "default"


def test_dotenv_loads_with_dots_making_the_sections(tmp_path: Path) -> None:
    config = load_text(tmp_path, IN_DOTENV, name="burrow.env").config

    assert config.clusters["local"].servers == ("localhost:9092", "localhost:9093")
    assert config.general.pidfile == "a # b"


def test_a_file_of_any_other_name_is_toml(tmp_path: Path) -> None:
    assert list(load_text(tmp_path, MINIMAL, name="my.conf").config.clusters) == ["local"]


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    assert list(load_text(tmp_path, "\ufeff" + MINIMAL).config.clusters) == ["local"]


def test_a_file_that_cannot_be_used_gets_one_line(tmp_path: Path) -> None:
    cases = {
        "burrow.ini": ("a=1", "cannot read the format 'ini'; use one of dotenv, env, json, "),
        "burrow.toml": ("[general\n", "syntax error: Expected ']' at the end of a table"),
        "burrow.json": ('{"a": 1,\n}', "syntax error: "),
        "burrow.yaml": ("a: [1\nb: 2", "syntax error: expected ',' or ']'"),
        "burrow.yml": ("a: 1\nb: 2\na: 3", "syntax error: a is given twice (at line 1, column 1)"),
        "self.yaml": ("a: &a\n  b: [*a]", "syntax error: found unconstructable recursive node"),
        "burrow.env": ("A=1\nnonsense", "syntax error: expected KEY=VALUE (at line 2)"),
        "deep.toml": ("a = " + "[" * 9999, "syntax error: values are nested too deep"),
        "list.json": ("[1]", "holds no sections, such as [cluster.local]"),
    }

    found = {name: problems_of(tmp_path, text, name=name) for name, (text, _) in cases.items()}

    assert all(len(problems) == 1 for problems in found.values()), found
    wrong = {name: p for name, p in found.items() if not p[0].startswith(cases[name][1])}
    assert wrong == {}


def test_syntax_errors_tell_the_line(tmp_path: Path) -> None:
    cases = {
        "burrow.toml": "[general]\npidfile = nope",
        "burrow.json": '{"general":\n nope}',
        "burrow.yaml": "general:\n- [",
        "burrow.env": "a=1\nb",
    }

    silent = [
        name
        for name, text in cases.items()
        if "line " not in problems_of(tmp_path, text, name=name)[0]
    ]

    assert silent == []


def test_a_file_that_is_not_there_or_not_text_gets_one_line(tmp_path: Path) -> None:
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    empty = tmp_path / "empty"
    empty.mkdir()

    assert problems_with(tmp_path / "none.toml") == ["cannot be read: No such file or directory"]
    assert problems_with(tmp_path / "binary.toml") == ["is not UTF-8 text: invalid start byte"]
    assert problems_with(empty) == [
        (
            "there is no configuration here; looked for "
            "burrow.toml, burrow.json, burrow.yaml, burrow.yml, burrow.env"
        )
    ]


def test_a_file_that_cannot_be_opened_gets_one_line(tmp_path: Path) -> None:
    loop = tmp_path / "burrow.toml"
    loop.symlink_to(loop)

    assert problems_with(loop) == ["cannot be read: Too many levels of symbolic links"]


def test_every_problem_line_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "burrow.toml").write_text("[storage.a]\nintervals = 0\n")

    with pytest.raises(ConfigError) as caught:
        load(tmp_path, {})

    lines = str(caught.value).splitlines()
    assert len(lines) == 2
    assert all(line.startswith(f"{tmp_path / 'burrow.toml'}: storage.a.") for line in lines)
