"""Archives make Java start faster, and never make it fail or talk."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from support.waiting import eventually

from warren.errors import NoArchive
from warren.spark import class_archive, jars
from warren.spark.class_archive import ClassArchive, Recording
from warren.spark.java import java_home

IVY = next(jars.SPARK_JARS.glob("ivy-*.jar"))  # a small program that is there


def run_ivy(
    archive: ClassArchive, class_list: Path, *more: str
) -> "subprocess.CompletedProcess[str]":
    java = str(archive.java_home / "bin" / "java")
    environ = {k: v for k, v in os.environ.items() if k not in class_archive.OPTIONS_VARIABLES}
    return subprocess.run(
        [
            java,
            *archive.options(class_list),
            *more,
            "-cp",
            str(IVY),
            "org.apache.ivy.Main",
            "-version",
        ],
        capture_output=True,
        text=True,
        env=environ,
        cwd=class_list.parent,  # where a crash is described
        check=False,
    )


def find(cache: Path) -> ClassArchive:
    return class_archive.find("ivy", java_home(), [IVY], {"XDG_CACHE_HOME": str(cache)})


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    archive = find(tmp_path / "cache")
    run_ivy(archive, tmp_path / "classes")
    return Recording(archive, tmp_path / "classes", str(IVY))


def test_classes_come_from_the_archive_once_it_is_made(
    recording: Recording, tmp_path: Path
) -> None:
    class_archive.make(recording)

    again = run_ivy(find(tmp_path / "cache"), tmp_path / "classes", "-Xlog:class+load")
    (line,) = [line for line in again.stdout.splitlines() if "org.apache.ivy.Main source" in line]
    assert "shared objects file" in line
    assert {file.name for file in recording.archive.file.parent.iterdir()} == {
        ".lock",
        recording.archive.file.name,
    }


def test_a_damaged_archive_is_ignored_in_silence(recording: Recording, tmp_path: Path) -> None:
    class_archive.make(recording)
    file = recording.archive.file
    whole, plain = file.read_bytes(), run_ivy(ClassArchive(tmp_path, java_home()), tmp_path / "n")
    damaged = {
        "truncated": whole[: len(whole) // 2],
        "only its header": whole[:5000],
        "garbage": b"garbage" * 100_000,
        "empty": b"",
        "of another Java": whole[:64]
        + whole[64:4096].replace(b"OpenJDK", b"ClosedJ")
        + whole[4096:],
    }
    file.chmod(0o600)

    said = {}
    for name, content in damaged.items():
        file.write_bytes(content)
        done = run_ivy(recording.archive, tmp_path / "classes")
        said[name] = (done.stdout, done.stderr)

    assert {name: each for name, each in said.items() if each != (plain.stdout, "")} == {}


def test_an_archive_that_java_crashes_over_is_removed(recording: Recording, tmp_path: Path) -> None:
    class_archive.make(recording)
    archive = recording.archive
    whole = archive.file.read_bytes()
    archive.file.chmod(0o600)
    middle = len(whole) // 2
    archive.file.write_bytes(whole[:middle] + bytes(1 << 16) + whole[middle + (1 << 16) :])

    crashed = run_ivy(archive, tmp_path / "classes")
    removed = [archive.remove_after(code) for code in (None, 0, 1, -9, crashed.returncode)]

    assert removed == [False, False, False, False, True]
    assert run_ivy(archive, tmp_path / "classes").returncode == 0


def test_what_a_killed_maker_left_is_removed_by_the_next(recording: Recording) -> None:
    directory = recording.archive.file.parent
    scrap = directory / f".{recording.archive.file.stem}-abc"
    scrap.mkdir(parents=True)
    (scrap / "archive").write_bytes(b"half")

    class_archive.make(recording)

    assert {file.name for file in directory.iterdir()} == {".lock", recording.archive.file.name}


def test_another_jar_or_another_java_has_an_archive_of_its_own(tmp_path: Path) -> None:
    jar, home = tmp_path / "some.jar", tmp_path / "java"
    jar.write_bytes(b"one")
    (home / "lib").mkdir(parents=True)
    (home / "release").write_text("17.0.1")

    files = [class_archive.find("x", home, [jar]).file]
    jar.write_bytes(b"another")
    files.append(class_archive.find("x", home, [jar]).file)
    (home / "release").write_text("17.0.1-longer")
    files.append(class_archive.find("x", home, [jar]).file)

    assert len(set(files)) == 3


def test_a_cache_that_cannot_be_written_is_a_reason_and_no_more(
    recording: Recording, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    elsewhere = find(tmp_path / "file")

    with pytest.raises(NoArchive, match="cannot write to the cache"):
        class_archive.make(Recording(elsewhere, recording.class_list, str(IVY)))


def test_a_class_path_that_java_refuses_is_told_in_one_line(
    recording: Recording, tmp_path: Path
) -> None:
    class_path = f"{tmp_path}{os.pathsep}{IVY}"

    with pytest.raises(NoArchive, match="non-empty directory") as raised:
        class_archive.make(Recording(recording.archive, recording.class_list, class_path))

    assert "\n" not in str(raised.value)


def test_who_stops_it_finds_nothing_half_made(recording: Recording) -> None:
    stop = threading.Event()
    stop.set()

    with pytest.raises(NoArchive, match="stopped"):
        class_archive.make(recording, stop)

    assert [file.name for file in recording.archive.file.parent.iterdir()] == [".lock"]


def test_java_ends_when_the_maker_is_killed(recording: Recording) -> None:
    scratch = str(recording.archive.file.parent / f".{recording.archive.file.stem}-")
    code = (
        "from pathlib import Path; from warren.spark import class_archive\n"
        "from warren.spark.class_archive import ClassArchive, Recording\n"
        f"archive = ClassArchive(Path({str(recording.archive.file)!r}),\n"
        f"                       Path({str(recording.archive.java_home)!r}))\n"
        f"classes = Path({str(recording.class_list)!r})\n"
        f"class_archive.make(Recording(archive, classes, {str(IVY)!r}))\n"
    )
    owner = subprocess.Popen([sys.executable, "-c", code])
    eventually(lambda: bool(processes_with(scratch)), expected=True)

    owner.kill()
    owner.wait()

    eventually(lambda: processes_with(scratch), expected=[])
    assert not recording.archive.is_made


def processes_with(text: str) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has ended meanwhile
            continue
        if text in command:
            found.append(command)
    return found


def test_the_oldest_of_many_archives_is_removed(recording: Recording) -> None:
    directory = recording.archive.file.parent
    directory.mkdir(parents=True)
    for age, name in enumerate(["ivy-c", "ivy-b", "ivy-a", "other-a"]):
        (directory / f"{name}.jsa").touch()
        os.utime(directory / f"{name}.jsa", (1000 - age, 1000 - age))

    class_archive.make(recording)

    left = {file.stem for file in directory.glob("*.jsa")}
    assert left == {recording.archive.file.stem, "ivy-c", "ivy-b", "other-a"}


def test_spark_uses_its_archive_for_itself_and_for_the_connectors(spark: SparkSession) -> None:
    jvm = spark.sparkContext._jvm  # noqa: SLF001  the only way to ask Java
    assert jvm is not None
    beans = jvm.java.lang.management.ManagementFactory
    arguments = list(beans.getRuntimeMXBean().getInputArguments())
    loader = jvm.java.lang.Class.forName("org.apache.kafka.clients.consumer.KafkaConsumer")

    assert any(each.startswith("-XX:SharedArchiveFile=") for each in arguments)
    assert "AppClassLoader" in loader.getClassLoader().toString()


def test_a_collector_and_jars_of_the_user_go_on_working(tmp_path: Path) -> None:
    folders = ",".join(
        str(jars.resolve(bundle)[0].parent) for bundle in (jars.SPARK_KAFKA, jars.DELTA)
    )
    conf = {"spark.driver.extraJavaOptions": "-XX:+UseParallelGC", "spark.jars": folders}
    code = (
        "from warren.spark.session import start_session, stop_session\n"
        f"spark = start_session('local[1]', 'own', {conf!r}, '512m')\n"
        f"spark.range(5).write.format('delta').save('{tmp_path}/table')\n"
        "options = {'kafka.bootstrap.servers': '127.0.0.1:1', 'subscribe': 'x'}\n"
        "print(spark.readStream.format('kafka').options(**options).load().columns[0])\n"
        "stop_session(spark)\n"
    )
    environ = {k: v for k, v in os.environ.items() if k != "JDK_JAVA_OPTIONS"}

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environ, check=False
    )

    assert (done.stdout, done.returncode) == ("key\n", 0), done.stderr
