"""What a sink's section must say, and what it is told when it does not."""

from pathlib import Path

from support.config_files import MINIMAL, load_text, problems_of

INFLUX = '[sink.x]\nclass-name = "influxdb"\nurl = "http://localhost:8086"\n'
SEARCH = '[sink.x]\nclass-name = "elasticsearch"\nurl = "https://localhost:9200"\n'

REFUSED = {
    "an unknown class": (
        '[sink.x]\nclass-name = "influx"\n',
        'class-name: "influx" is not allowed; must be one of influxdb, elasticsearch, console,',
    ),
    "no class": ("[sink.x]\n", "class-name: missing"),
    "no URL": ('[sink.x]\nclass-name = "influxdb"\ndatabase = "d"\n', "url: missing"),
    "a URL that is none": (
        SEARCH.replace("https://", ""),
        'url: "localhost:9200" is not allowed: it does not begin with http:// or https://',
    ),
    "nowhere to write to": (INFLUX, "database: missing; name a database"),
    "a database and a bucket": (
        INFLUX + 'database = "d"\nbucket = "b"\n',
        "bucket: cannot be set with database",
    ),
    "a bucket and a user": (
        INFLUX + 'bucket = "b"\nusername = "u"\n',
        "username: cannot be set with bucket",
    ),
    "a token and a user": (
        INFLUX + 'database = "d"\ntoken = "t"\nusername = "u"\n',
        "token: cannot be set with username or password",
    ),
    "a key and a user": (
        SEARCH + 'api-key = "k"\nusername = "u"\n',
        "api-key: cannot be set with username or password",
    ),
    "a password for nobody": (
        SEARCH + 'password = "p"\n',
        "username: missing; a password needs a user name",
    ),
    "a since that is no time": (
        INFLUX + 'database = "d"\nsince = "yesterday"\n',
        "since: \"yesterday\" is not allowed: 'yesterday' is no time",
    ),
    "an index with capitals": (SEARCH + 'index = "Lag-%Y"\n', 'index: "Lag-%Y" is not allowed'),
    "an index of dates only": (SEARCH + 'index = "%Y.%m"\n', 'index: "%Y.%m" is not allowed'),
    "an unknown tls section": (SEARCH + 'tls = "none"\n', 'tls: "none" names no tls section'),
    "no directory": ('[sink.x]\nclass-name = "delta"\n', "directory: missing"),
}


def test_a_sink_that_cannot_work_is_refused_in_one_line(tmp_path: Path) -> None:
    told = {name: problems_of(tmp_path, MINIMAL + text) for name, (text, _) in REFUSED.items()}

    wrong = {
        name: problems
        for name, problems in told.items()
        if [p for p in problems if p.startswith(f"sink.x.{REFUSED[name][1]}")] != problems
        or len(problems) != 1
    }

    assert wrong == {}


def test_a_sink_brings_history_with_it(tmp_path: Path) -> None:
    config = load_text(tmp_path, MINIMAL + INFLUX + 'database = "d"\n').config

    assert config.history is not None
    assert config.sinks["x"].since == "latest"


def test_secrets_of_a_sink_are_not_shown(tmp_path: Path) -> None:
    text = MINIMAL + INFLUX + 'bucket = "b"\ntoken = "t0ps3cret"\n'

    sink = load_text(tmp_path, text).config.sinks["x"]

    assert "t0ps3cret" not in repr(sink)
