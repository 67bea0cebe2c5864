"""The wheel on its own: an environment that has its dependencies and not this tree."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import warren

ROOT = Path(__file__).parents[1]


def uv() -> str:
    """As the launchers find it."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return shutil.which("uv") or f"{cache}/warren/uv/bin/uv"


def outside(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run without the PYTHONPATH that points at this tree."""
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        command, cwd=cwd, env=environ, check=False, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of an environment with the wheel; its dependencies are borrowed from ours."""
    return install(ROOT, tmp_path_factory.mktemp("wheel"))


def install(project: Path, folder: Path) -> Path:
    built = outside(uv(), "build", "--wheel", "--out-dir", folder, project, cwd=folder)
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("*.whl")
    python = folder / "venv" / "bin" / "python"
    assert outside(uv(), "venv", "--python", sys.executable, "venv", cwd=folder).returncode == 0
    put = outside(uv(), "pip", "install", "--python", python, "--no-deps", wheel, cwd=folder)
    assert put.returncode == 0, put.stderr
    (site,) = folder.glob("venv/lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return python.parent


def test_the_wheel_is_what_runs(installed: Path, tmp_path: Path) -> None:
    python = installed / "python"

    done = outside(python, "-c", "import warren; print(warren.__file__)", cwd=tmp_path)

    assert Path(done.stdout.strip()).is_relative_to(installed.parent)


def test_the_wheel_brings_the_command(installed: Path, tmp_path: Path) -> None:
    version = outside(installed / "warren", "--version", cwd=tmp_path)
    shown = outside(installed / "warren", "--help", cwd=tmp_path)

    assert version.stdout == f"warren {warren.__version__}\n"
    assert shown.returncode == 0
    assert "check-config" in shown.stdout


def test_the_wheel_brings_the_man_page(installed: Path) -> None:
    page = installed.parent / "share" / "man" / "man1" / "warren.1"

    assert page.read_text() == (ROOT / "docs" / "warren.1").read_text()


def test_the_wheel_checks_a_configuration(installed: Path, tmp_path: Path) -> None:
    cluster = '[cluster.local]\nclass-name = "kafka"\nservers = ["localhost:9092"]\n'
    (tmp_path / "burrow.toml").write_text(cluster)

    done = outside(installed / "warren", "check-config", cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "OK, 0 warnings\n")
    assert "[httpserver" in done.stdout


def test_the_wheel_holds_every_file_of_the_package(installed: Path) -> None:
    (package,) = installed.parent.glob("lib/python*/site-packages/warren")
    source = ROOT / "src" / "warren"

    wanted = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
    packed = {path.relative_to(package) for path in package.rglob("*") if path.is_file()}

    assert {path for path in wanted - packed if "__pycache__" not in path.parts} == set()


def test_the_wheel_of_the_listener_needs_pyspark_and_nothing_else(tmp_path: Path) -> None:
    python = install(ROOT / "listener", tmp_path) / "python"
    (site,) = tmp_path.glob("venv/lib/python*/site-packages")
    (facts,) = site.glob("warren_listener-*.dist-info/METADATA")
    loaded = (
        "import sys, warren_listener as w; print(w.attach.__name__, w.__file__);"
        "print([each for each in sys.modules if each.partition('.')[0] in ('warren', 'msgspec')])"
    )

    done = outside(python, "-c", loaded, cwd=tmp_path)

    assert done.stdout.startswith(f"attach {site}/warren_listener/"), done.stderr
    assert done.stdout.endswith("\n[]\n")
    needs = [line for line in facts.read_text().splitlines() if line.startswith("Requires")]
    assert needs == ["Requires-Python: >=3.8", "Requires-Dist: pyspark>=3.4"]
    assert (site / "warren_listener" / "py.typed").exists()
