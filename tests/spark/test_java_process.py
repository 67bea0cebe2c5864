"""Java is started as Spark's scripts would, where that is all they would do."""

import os
import subprocess
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from support.config_files import MINIMAL, load_text

from warren.errors import StartError
from warren.spark import java_process
from warren.spark.java import java_home
from warren.spark.java_options import CONF_DIR, GIVEN_OPTIONS
from warren.spark.java_process import is_plain, started_early

SMALL = '[spark]\nmaster = "local[1]"\ndriver-memory = "256m"\n'


def test_modules_are_open_as_spark_opens_them(spark: SparkSession) -> None:
    java = spark.sparkContext._jvm.org.apache.spark.launcher  # type: ignore[union-attr]  # noqa: SLF001  the list is nowhere else

    assert list(java.JavaModuleOptions.defaultModuleOptionArray()) == [*java_process.MODULES]


def test_only_what_warren_uses_is_on_the_class_path(spark: SparkSession) -> None:
    jvm = spark.sparkContext._jvm  # noqa: SLF001  the only way to ask Java
    assert jvm is not None
    on_path = jvm.java.lang.System.getProperty("java.class.path")
    names = [Path(entry).name for entry in on_path.split(os.pathsep)]
    wanted = ("spark-sql_2", "spark-sql-kafka-0-10", "delta-spark", "hive-storage-api", "orc-core")

    assert [each for each in wanted if not any(name.startswith(each) for name in names)] == []
    assert [name for name in names if "mllib" in name or "kubernetes" in name] == []


def test_settings_that_only_sparks_scripts_know_are_left_to_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SPARK_CONF_DIR", str(CONF_DIR))
    cases: dict[str, tuple[str, dict[str, str], bool]] = {
        "this machine": ("local[*]", {}, True),
        "its Java's options and jars": (
            "local",
            {GIVEN_OPTIONS: "-Dx=y", "spark.jars": "a.jar"},
            True,
        ),
        "a cluster": ("spark://host:7077", {}, False),
        "several processes": ("local-cluster[2,1,512]", {}, False),
        "jars to download": ("local[2]", {"spark.jars.packages": "a:b:1"}, False),
        "native libraries": ("local[2]", {"spark.driver.extraLibraryPath": "/opt"}, False),
        "Kerberos": ("local[2]", {"spark.kerberos.keytab": "/k"}, False),
        "Hive": ("local[2]", {"spark.sql.catalogImplementation": "hive"}, False),
    }

    wrong = [
        name for name, (master, conf, plain) in cases.items() if is_plain(master, conf) != plain
    ]

    assert wrong == []
    for name in ("HADOOP_CONF_DIR", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS"):
        with monkeypatch.context() as here:
            here.setenv(name, "/elsewhere")
            assert not is_plain("local", {}), name


def test_a_java_that_nobody_needs_after_all_ends_and_leaves_nothing(tmp_path: Path) -> None:
    with started_early(load_text(tmp_path, MINIMAL + SMALL).config) as java:
        assert java is not None
        place, process = java.place, java.process
        assert place.is_dir()

    assert process.poll() is not None
    assert not place.exists()


def test_options_that_cannot_be_parsed_are_said_to_be_so() -> None:
    conf = {GIVEN_OPTIONS: "-Dname='no end"}

    with pytest.raises(StartError, match=r"cannot parse spark\.driver\.extraJavaOptions"):
        java_process.start("local[1]", conf, "256m", ())


def test_an_option_with_every_odd_character_arrives_whole(tmp_path: Path) -> None:
    odd = "a \"b\" 'c' \\d\\ #e @f $g ü"
    arguments = java_process._argument_file([f"-Dodd={odd}"], tmp_path)  # noqa: SLF001  what Java parses
    java = java_home() / "bin" / "java"

    said = subprocess.run(
        [str(java), f"@{arguments}", "-XshowSettings:properties", "-version"],
        capture_output=True,
        env=os.environ | {"LC_ALL": "C.UTF-8"},
        check=True,
    )

    assert f"odd = {odd}" in said.stderr.decode()
