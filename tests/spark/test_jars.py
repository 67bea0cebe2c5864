"""Jars come from the network once, from a directory when told so, and never as a stack trace."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from warren.errors import JarsMissing
from warren.spark import jars

TINY = jars.Bundle(
    name="tiny",
    version="1",
    title="a tiny bundle",
    coordinates=("org.slf4j:slf4j-api:1.7.36",),
    needed=("slf4j-api-",),
    inside_spark=False,
)
NO_NETWORK = """<ivysettings><settings defaultResolver="nowhere"/>
<resolvers><ibiblio name="nowhere" m2compatible="true" root="http://127.0.0.1:9/"/></resolvers>
</ivysettings>"""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An empty cache, and a repository that cannot be reached."""
    settings = tmp_path / "ivysettings.xml"
    settings.write_text(NO_NETWORK)
    unset = {k: v for k, v in os.environ.items() if k != "WARREN_JARS"}
    return unset | {"XDG_CACHE_HOME": str(tmp_path), "WARREN_IVY_SETTINGS": str(settings)}


def make_repository(environ: dict[str, str], root: Path) -> None:
    """A repository of one jar, on disk."""
    place = root / "org" / "slf4j" / "slf4j-api" / "1.7.36"
    place.mkdir(parents=True)
    (place / "slf4j-api-1.7.36.jar").write_bytes(b"PK")
    Path(environ["WARREN_IVY_SETTINGS"]).write_text(
        NO_NETWORK.replace("http://127.0.0.1:9/", root.as_uri() + "/")
    )


def touch_all(directory: Path, *names: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name in names:
        (directory / name).touch()


def test_a_second_call_needs_neither_network_nor_java(
    environ: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_repository(environ, tmp_path / "repository")

    first = jars.resolve(TINY, environ)
    second = jars.resolve(TINY, {"XDG_CACHE_HOME": environ["XDG_CACHE_HOME"], "PATH": ""})

    assert first == [tmp_path / "warren" / "jars" / "tiny-1" / "slf4j-api-1.7.36.jar"]
    assert second == first
    assert jars.count_downloaded(TINY, environ) == 1
    assert capsys.readouterr().err == "warren: fetching the jars of a tiny bundle (once)\n"


def test_two_processes_at_once_fetch_once(environ: dict[str, str], tmp_path: Path) -> None:
    make_repository(environ, tmp_path / "repository")
    code = f"from warren.spark import jars; print(len(jars.resolve(jars.{TINY!r})))"

    both = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=120) for process in both]

    assert [out for out, _ in outputs] == ["1\n", "1\n"]
    assert sum(err.count("fetching") for _, err in outputs) == 1


def test_a_failed_fetch_is_one_line_and_leaves_no_half_filled_folder(
    environ: dict[str, str], tmp_path: Path
) -> None:
    with pytest.raises(JarsMissing) as raised:
        jars.resolve(TINY, environ)

    message = str(raised.value)
    log = tmp_path / "warren" / "ivy-tiny-1.log"
    assert "org.slf4j#slf4j-api;1.7.36: not found" in message
    assert "Connection refused" in message
    assert "\n" not in message
    assert str(log) in message
    assert log.exists()
    assert [path.name for path in (tmp_path / "warren" / "jars").iterdir()] == [".lock"]


def test_a_directory_of_jars_stands_in_for_the_network(tmp_path: Path) -> None:
    spark = ("delta-spark_2.13-4.0.0.jar", "delta-storage-4.0.0.jar")
    touch_all(tmp_path / "flat", *spark, "other.jar")
    touch_all(tmp_path / "copied" / jars.DELTA.folder, *spark)

    found = {
        place: jars.resolve(jars.DELTA, {"WARREN_JARS": str(tmp_path / place)})
        for place in ("flat", "copied")
    }

    assert found == {
        "flat": [tmp_path / "flat" / name for name in spark],
        "copied": [tmp_path / "copied" / jars.DELTA.folder / name for name in spark],
    }


def test_a_directory_that_lacks_jars_is_told_which(tmp_path: Path) -> None:
    touch_all(tmp_path, "kafka-clients-3.9.0.jar", "spark-sql-kafka-0-10_2.13-3.5.0.jar")

    with pytest.raises(JarsMissing) as raised:
        jars.resolve(jars.SPARK_KAFKA, {"WARREN_JARS": str(tmp_path)})

    lacking = (
        "spark-sql-kafka-0-10_2.13-4.0.0*.jar",
        "spark-token-provider-kafka-0-10_2.13-4.0.0*.jar",
        "commons-pool2*.jar",
    )
    assert f"{tmp_path} lacks {', '.join(lacking)}" in str(raised.value)


def test_jars_given_to_spark_are_taken_as_they_are(tmp_path: Path) -> None:
    touch_all(tmp_path, "delta-spark_2.13-4.0.0.jar", "delta-storage-4.0.0.jar", "mine.jar")
    given = f"{tmp_path}, {tmp_path}/mine.jar"

    found = jars.for_spark(jars.DELTA, given, {"PATH": ""})

    assert {path.name for path in found} == {
        "delta-spark_2.13-4.0.0.jar",
        "delta-storage-4.0.0.jar",
        "mine.jar",
    }
    with pytest.raises(JarsMissing, match=r"spark\.jars lacks spark-sql-kafka"):
        jars.for_spark(jars.SPARK_KAFKA, given, {"PATH": ""})


def test_what_spark_ships_is_not_fetched_again() -> None:
    shipped = jars.shipped_with_spark()

    trap = {"slf4j-api", "hadoop-client-api", "hadoop-client-runtime", "lz4-java", "snappy-java"}
    trap |= {"jsr305", "scala-parallel-collections_2.13", "commons-logging", "scala-library"}
    assert trap <= shipped
    assert not {"kafka-clients", "commons-pool2", "delta-storage"} & shipped


def test_environments_with_the_same_files_have_one_spark(tmp_path: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    installed, first, second, alone = (tmp_path / name for name in ("uv", "one", "two", "alone"))
    for package in (installed, alone):
        touch_all(package / "bin", "spark-submit")
        touch_all(package / "jars", "spark-core_2.13-4.0.0.jar", "another.jar")
    for package in (first, second):
        shutil.copytree(installed, package, copy_function=os.link)

    homes = [jars.spark_home(environ, package) for package in (first, second, alone)]

    assert homes[0] == homes[1]
    assert homes[0].parent == tmp_path / "warren" / "spark"
    assert sorted(file.name for file in homes[0].glob("*/*")) == [
        "another.jar",
        "spark-core_2.13-4.0.0.jar",
        "spark-submit",
    ]
    assert homes[2] == alone


def test_a_spark_that_no_environment_has_any_more_is_removed(tmp_path: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    homes = []
    for name in ("old", "new"):
        package, link = tmp_path / name, tmp_path / f"{name}.jar"
        touch_all(package / "bin", "spark-submit")
        touch_all(package / "jars", "spark-core_2.13-4.0.0.jar")
        link.hardlink_to(package / "jars" / "spark-core_2.13-4.0.0.jar")
        homes.append(jars.spark_home(environ, package))
        link.unlink()
        shutil.rmtree(package)

    assert [home.is_dir() for home in homes] == [False, True]


def test_without_a_cache_spark_is_where_it_was_installed(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    touch_all(tmp_path / "spark" / "bin", "spark-submit")
    touch_all(tmp_path / "spark" / "jars", "spark-core_2.13-4.0.0.jar")
    (tmp_path / "link").hardlink_to(tmp_path / "spark" / "jars" / "spark-core_2.13-4.0.0.jar")

    home = jars.spark_home({"XDG_CACHE_HOME": str(tmp_path / "file")}, tmp_path / "spark")

    assert home == tmp_path / "spark"
