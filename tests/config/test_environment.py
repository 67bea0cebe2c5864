from pathlib import Path

from support.config_files import MINIMAL, load_text, problems_of


def test_the_environment_beats_the_file(tmp_path: Path) -> None:
    environ = {
        "BURROW_STORAGE_DEFAULT_MIN_DISTANCE": "5",
        "BURROW_CLUSTER_LOCAL_SERVERS": "h1:9092 h2:9092",
        "BURROW_CONSUMER_LOCAL_GROUP_DENYLIST": "^x",
        "BURROW_CONSUMER_LOCAL_START_LATEST": "true",
        "BURROW_LOGGING_LEVEL": "debug",
        "BURROW_ZOOKEEPER_SERVERS": "zk:2181",
    }

    loaded = load_text(tmp_path, MINIMAL + "start-latest = false\n", environ)

    config = loaded.config
    assert config.storage.min_distance == 5
    assert config.clusters["local"].servers == ("h1:9092", "h2:9092")
    assert config.consumers["local"].group_denylist == "^x"
    assert config.consumers["local"].start_latest is True
    assert config.logging.level == "debug"
    assert config.zookeeper is not None
    assert config.zookeeper.servers == ("zk:2181",)
    assert loaded.warnings == []


def test_an_empty_variable_is_ignored(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, "", {"BURROW_STORAGE_DEFAULT_INTERVALS": ""})

    assert loaded.config.storage.intervals == 10
    assert loaded.origins["storage.default.intervals"] == "default"


def test_the_prefix_comes_from_the_file_only(tmp_path: Path) -> None:
    environ = {
        "MY_APP_LOGGING_LEVEL": "debug",
        "MY_APP_GENERAL_ENV_VAR_PREFIX": "other",
        "BURROW_LOGGING_LEVEL": "error",
    }

    loaded = load_text(tmp_path, '[general]\nenv-var-prefix = "my-app"\n', environ)

    assert loaded.config.logging.level == "debug"
    assert loaded.config.general.env_var_prefix == "my-app"


def test_without_a_prefix_the_path_alone_is_the_name(tmp_path: Path) -> None:
    text = '[general]\nenv-var-prefix = ""\n'

    assert load_text(tmp_path, text, {"LOGGING_LEVEL": "warn"}).config.logging.level == "warn"


def test_a_variable_cannot_make_a_module_and_says_so(tmp_path: Path) -> None:
    environ = {
        "BURROW_CLUSTER_OTHER_CLASS_NAME": "kafka",
        "BURROW_BACKEND": "http://localhost",  # somebody else's
        "BURROW_SERVICE_HOST": "10.0.0.1",
    }

    loaded = load_text(tmp_path, MINIMAL, environ)

    assert list(loaded.config.clusters) == ["local"]
    assert loaded.warnings == [
        "environment BURROW_CLUSTER_OTHER_CLASS_NAME: sets nothing; no section has such a key"
    ]


def test_the_made_up_modules_keep_what_burrow_sets_by_itself(tmp_path: Path) -> None:
    environ = {
        "BURROW_HTTPSERVER_DEFAULT_ADDRESS": ":8000",
        "BURROW_HTTPSERVER_DEFAULT_TIMEOUT": "7",
        "BURROW_STORAGE_DEFAULT_CLASS_NAME": "other",
    }

    server = load_text(tmp_path, "", environ).config.httpservers["default"]

    assert (server.address, server.timeout) == (":0", 7)


def test_a_log_in_may_stand_in_the_environment_alone(tmp_path: Path) -> None:
    text = MINIMAL + 'client-profile = "p"\n[client-profile.p]\nsasl = "MySasl"\n'
    environ = {"BURROW_SASL_MYSASL_USERNAME": "scott", "BURROW_SASL_MYSASL_PASSWORD": "tiger"}

    loaded = load_text(tmp_path, text, environ)

    sasl = loaded.config.connection(loaded.config.consumers["local"]).sasl
    assert sasl is not None
    assert (sasl.username, sasl.password.reveal()) == ("scott", "tiger")
    assert loaded.origins["sasl.mysasl.password"] == "environment BURROW_SASL_MYSASL_PASSWORD"
    assert loaded.warnings == []


def test_a_table_is_a_json_object(tmp_path: Path) -> None:
    environ = {"BURROW_SPARK_CONF": '{"spark.a": "b"}'}

    assert load_text(tmp_path, "", environ).config.spark.conf == {"spark.a": "b"}


def test_a_bad_variable_is_named(tmp_path: Path) -> None:
    environ = {"BURROW_STORAGE_DEFAULT_INTERVALS": "0"}

    assert problems_of(tmp_path, "", environ) == [
        (
            'storage.default.intervals: "0" (from environment BURROW_STORAGE_DEFAULT_INTERVALS) '
            "is not allowed; must be a whole number, at least 1"
        )
    ]
