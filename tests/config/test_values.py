"""Case, coercion, defaults and old names: how a value of the file becomes a value of the Config."""

from pathlib import Path

from support.config_files import MINIMAL, load_text, problems_of

from warren.config import Config, Notifier


def test_names_and_keys_are_the_same_in_any_case_and_values_keep_theirs(tmp_path: Path) -> None:
    config = load_text(
        tmp_path,
        """
        [CLUSTER.Prod]
        Class-Name = "kafka"
        SERVERS = ["Broker:9092"]
        client-profile = "MyProfile"
        [consumer.x]
        class-name = "kafka"
        cluster = "PROD"
        servers = ["Broker:9092"]
        [client-profile.myprofile]
        client-id = "MyClient"
        """,
    ).config

    assert list(config.clusters) == ["prod"]
    assert config.clusters["prod"].servers == ("Broker:9092",)
    assert config.consumers["x"].cluster == "prod"
    assert config.connection(config.clusters["prod"]).profile.client_id == "MyClient"


def test_keys_of_free_maps_are_lower_case_but_for_sparks_quoted_or_not(tmp_path: Path) -> None:
    template = tmp_path / "t.tmpl"
    template.write_text("")

    config = load_text(
        tmp_path,
        f"""
        [zookeeper]
        servers = "zk:2181"
        [spark.conf]
        "spark.sql.shuffle.partitions" = 4
        "spark.myOwn" = true
        spark.unQuoted.setting = 5
        spark.unQuoted.other = "six"
        [notifier.n]
        class-name = "http"
        url-open = "http://localhost"
        template-open = "{template}"
        extras = {{ Api_Key = "K", Number = 1.0 }}
        """,
    ).config

    assert config.spark.conf == {
        "spark.sql.shuffle.partitions": "4",
        "spark.myOwn": "true",
        "spark.unQuoted.setting": "5",
        "spark.unQuoted.other": "six",
    }
    assert config.notifiers["n"].extras == {"api_key": "K", "number": "1"}


def test_a_dotted_name_works_when_quoted(tmp_path: Path) -> None:
    text = '[cluster."my.cluster"]\nclass-name = "kafka"\nservers = ["h:1"]\n'
    environ = {"BURROW_CLUSTER_MY_CLUSTER_OFFSET_REFRESH": "3"}

    config = load_text(tmp_path, text, environ).config

    assert config.clusters["my.cluster"].name == "my.cluster"
    assert config.clusters["my.cluster"].offset_refresh == 3


def test_values_are_coerced_as_burrow_coerces_them(tmp_path: Path) -> None:
    config = load_text(
        tmp_path,
        MINIMAL
        + """
        start-latest = "1"
        backfill-earliest = "T"
        offsets-topic = 7
        [storage.s]
        class-name = "inmemory"
        intervals = "12"
        min-distance = 3.9
        expire-group = "0x10"
        queue-depth = true
        [evaluator.e]
        class-name = "caching"
        minimum-complete = "0.2"
        expire-cache = "5.0"
        [client-profile.p]
        kafka-version = "1.0.0"
        """,
    ).config

    consumer, storage, evaluator = config.consumers["local"], config.storage, config.evaluator
    assert (consumer.start_latest, consumer.backfill_earliest) == (True, True)
    assert consumer.offsets_topic == "7"
    assert (storage.intervals, storage.min_distance, storage.expire_group) == (12, 3, 16)
    assert storage.queue_depth == 1
    assert (evaluator.minimum_complete, evaluator.expire_cache) == (0.2, 5)


def test_a_negative_minimum_complete_is_accepted_as_burrow_does(tmp_path: Path) -> None:
    text = MINIMAL + '[evaluator.e]\nclass-name = "caching"\nminimum-complete = -0.5\n'

    assert load_text(tmp_path, text).config.evaluator.minimum_complete == -0.5


def test_what_cannot_be_read_is_refused_where_burrow_takes_zero(tmp_path: Path) -> None:
    text = """
    [logging]
    maxsize = "ten"
    use-compression = "yes"
    filename = ["a"]
    [storage.s]
    class-name = "inmemory"
    min-distance = "1s"
    [evaluator.e]
    class-name = "caching"
    minimum-complete = "half"
    [spark]
    conf = "x"
    """

    assert sorted(problems_of(tmp_path, text)) == [
        'evaluator.e.minimum-complete: "half" is not allowed; must be a number, at most 1',
        'logging.filename: ["a"] is not allowed; must be a text',
        'logging.maxsize: "ten" is not allowed; must be a whole number',
        'logging.use-compression: "yes" is not allowed; must be true or false',
        "spark.conf: *** is not allowed; must be a table of texts",
        'storage.s.min-distance: "1s" is not allowed; must be a whole number',
    ]


def test_an_empty_file_gives_the_defaults_and_the_modules_burrow_makes_up(tmp_path: Path) -> None:
    config = load_text(tmp_path, "").config

    assert config.storage == Config().storage
    assert config.storage.name == "default"
    assert config.evaluator == Config().evaluator
    assert [(s.name, s.address) for s in config.httpservers.values()] == [("default", ":0")]
    assert config.zookeeper is None
    assert config.general.pidfile == "burrow.pid"


def test_old_list_names_work_everywhere_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("")
    lists = 'group-whitelist = "a"\ngroup-blacklist = "b"\n'
    zookeeper = '[zookeeper]\nservers = ["zk:2181"]\n'
    storage = f'[storage.s]\nclass-name = "inmemory"\n{lists}'
    notifier = f'[notifier.n]\nclass-name = "null"\ntemplate-open = "{tmp_path}/t"\n{lists}'

    loaded = load_text(tmp_path, MINIMAL + lists + zookeeper + storage + notifier)

    config = loaded.config
    for module in (config.consumers["local"], config.storage, config.notifiers["n"]):
        assert module.groups == ("a", "b")
    assert len([warning for warning in loaded.warnings if "deprecated" in warning]) == 6
    assert "storage.s.group-whitelist: deprecated; use group-allowlist instead" in loaded.warnings


def test_the_present_name_beats_the_old_one(tmp_path: Path) -> None:
    text = MINIMAL + 'group-whitelist = "old"\ngroup-allowlist = "new"\n'

    assert load_text(tmp_path, text).config.consumers["local"].group_allowlist == "new"


def test_an_unknown_log_level_is_info_with_a_warning(tmp_path: Path) -> None:
    cases = {"DEBUG": "debug", "": "info", "warn": "warn", "warning": "info"}

    loads = {text: load_text(tmp_path, f'{MINIMAL}[logging]\nlevel = "{text}"\n') for text in cases}

    assert {text: loaded.config.logging.level for text, loaded in loads.items()} == cases
    assert [text for text, loaded in loads.items() if loaded.warnings] == ["warning"]


def test_messages_repeat_at_the_interval_unless_told_otherwise() -> None:
    assert Notifier(class_name="null", interval=30).repeat_s == 30
    assert Notifier(class_name="null", interval=30, send_interval=0).repeat_s == 0


def test_a_profile_without_its_tls_section_connects_with_the_systems_certificates(
    tmp_path: Path,
) -> None:
    text = MINIMAL + 'client-profile = "p"\n[client-profile.p]\ntls = "None"\n'

    loaded = load_text(tmp_path, text)

    connection = loaded.config.connection(loaded.config.consumers["local"])
    assert connection.tls is not None
    assert connection.tls.cafile == ""
    assert loaded.warnings == [
        (
            "client-profile.p.tls: there is no section [tls.none]; "
            "connecting with the system's certificates"
        )
    ]
