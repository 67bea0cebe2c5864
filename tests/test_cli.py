"""The command line as a shell sees it: real processes, exit codes, what is printed where."""

import os
import subprocess
import sys
from pathlib import Path

import warren

GOOD = """
[cluster.local]
class-name = "kafka"
servers = ["localhost:9092"]

[consumer.local]
class-name = "kafka"
cluster = "local"
servers = ["localhost:9092"]
"""

STORAGE = '[storage.default]\nclass-name = "inmemory"'


def run(*arguments: str | Path, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "warren", *arguments],
        cwd=cwd,
        env=os.environ | environ,
        check=False,
        capture_output=True,
        text=True,
    )


def folder_with(folder: Path, config: str, name: str = "burrow.toml") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(config)
    return folder


def test_version(tmp_path: Path) -> None:
    done = run("--version", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (0, f"warren {warren.__version__}\n")


def test_every_command_explains_itself_with_examples(tmp_path: Path) -> None:
    shown = {
        command: run(*command, "--help", cwd=tmp_path)
        for command in ((), ("serve",), ("check-config",), ("demo",), ("status",), ("lag",))
    }

    assert {command: done.returncode for command, done in shown.items()} == dict.fromkeys(shown, 0)
    examples = ["warren serve --config-dir", "warren check-config", "warren demo"]
    assert [example for example in examples if example not in shown[()].stdout] == []
    assert [
        command for command in shown if command and "Examples:" not in shown[command].stdout
    ] == []


def test_help_waits_for_nothing_heavy() -> None:
    heavy = ("pyspark", "numpy", "pyarrow", "msgspec", "cryptography", "re2", "structlog", "rich")
    program = (
        "import sys; from click.testing import CliRunner; from warren.cli import main\n"
        "assert CliRunner().invoke(main, ['serve', '--help']).exit_code == 0\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )

    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)

    assert loaded.stdout == b"[]\n"


def test_wrong_usage_is_exit_code_2(tmp_path: Path) -> None:
    usages = {
        "unknown command": ["watch"],
        "unknown option": ["--verbose"],
        "unknown option of serve": ["serve", "--port", "1"],
        "option without its value": ["serve", "--config-dir"],
        "named twice": ["serve", "--config-dir", "a", "--config", "b"],
        "named twice to check-config": ["check-config", "a", "--config", "b"],
        "no time at all": ["demo", "--for", "0"],
        "no number": ["demo", "--for", "long"],
        "fewer groups than there are": ["demo", "--groups", "11"],
        "nothing, and nothing to serve": [],
    }

    codes = {name: run(*arguments, cwd=tmp_path).returncode for name, arguments in usages.items()}

    assert codes == dict.fromkeys(usages, 2)


def test_check_config_prints_what_is_in_effect(tmp_path: Path) -> None:
    folder_with(tmp_path, GOOD)

    done = run("check-config", cwd=tmp_path, BURROW_STORAGE_DEFAULT_INTERVALS="17")

    assert (done.returncode, done.stderr) == (0, "OK, 0 warnings\n")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("intervals")]
    assert "17" in line
    assert "BURROW_STORAGE_DEFAULT_INTERVALS" in line


def test_check_config_finds_the_configuration_however_it_is_named(tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "etc", GOOD)
    file = folder_with(tmp_path / "etc", GOOD, "other.toml") / "other.toml"
    ways: list[list[str | Path]] = [
        [folder],
        [file],
        ["--config-dir", folder],
        [f"--config-dir={folder}"],
        ["-config-dir", folder],
        [f"-config-dir={folder}"],
        ["--config", file],
    ]

    wrong = [way for way in ways if run("check-config", *way, cwd=tmp_path).returncode != 0]

    assert wrong == []


def test_check_config_warns_of_an_unknown_key_and_takes_it_for_a_problem_if_told_so(
    tmp_path: Path,
) -> None:
    folder_with(tmp_path, f"{GOOD}\n{STORAGE}\nintervalls = 5\n")
    found = "storage.default.intervalls: unknown key; did you mean intervals?"

    lenient = run("check-config", cwd=tmp_path)
    strict = run("check-config", "--strict", cwd=tmp_path)

    assert (lenient.returncode, lenient.stderr) == (0, f"warning: {found}\nOK, 1 warning\n")
    assert "intervals" in lenient.stdout
    assert (strict.returncode, strict.stdout) == (1, "")
    assert strict.stderr == f"warren: burrow.toml: {found}\n"


def test_check_config_warns_of_old_names(tmp_path: Path) -> None:
    folder_with(tmp_path, GOOD + 'group-whitelist = "^a"\n')

    done = run("check-config", cwd=tmp_path)

    assert done.returncode == 0
    line, ok = done.stderr.splitlines()
    assert line.startswith("warning: ")
    assert "group-whitelist" in line
    assert ok == "OK, 1 warning"


BAD = f"""{GOOD}
{STORAGE}
intervals = 0

[httpserver.default]
address = ":99999"
"""


def test_every_problem_is_a_line_and_there_is_no_stack_trace(tmp_path: Path) -> None:
    folder_with(tmp_path, BAD)

    checked = run("check-config", cwd=tmp_path)
    served = run("serve", cwd=tmp_path)

    problems = checked.stderr.splitlines()
    assert (checked.returncode, served.returncode) == (1, 1)
    assert [line.startswith("warren: burrow.toml: ") for line in problems] == [True, True]
    said = served.stderr.splitlines()
    assert said[0] == "Reading configuration from ."
    assert said[1:-1] == problems
    assert said[-1].startswith("Warren failed at ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["burrow.toml"]


def test_a_start_script_of_burrow_needs_only_another_name(tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "etc", BAD)
    ways: dict[str, tuple[list[str | Path], Path]] = {
        "two dashes": (["--config-dir", folder], tmp_path),
        "one dash": (["-config-dir", folder], tmp_path),
        "with an equals sign": ([f"-config-dir={folder}"], tmp_path),
        "from where it stands": ([], folder),
    }

    said = {
        name: run(*arguments, cwd=cwd).stderr.splitlines()[0]
        for name, (arguments, cwd) in ways.items()
    }

    there = f"Reading configuration from {folder}"
    here = "Reading configuration from ."
    assert said == dict.fromkeys(ways, there) | {"from where it stands": here}


def test_a_missing_configuration_is_one_line(tmp_path: Path) -> None:
    for command in ("serve", "check-config"):
        for missing in (tmp_path / "nowhere", tmp_path):
            done = run(command, "--config-dir", missing, cwd=tmp_path)

            complaints = [line for line in done.stderr.splitlines() if line.startswith("warren: ")]
            assert done.returncode == 1
            assert len(complaints) == 1
            assert str(missing) in complaints[0]
            assert "Traceback" not in done.stderr
