"""Prometheus and Alertmanager take their files, and the rules fire when they should."""

import subprocess
from pathlib import Path

from generator.made import DEPLOY
from support.servers.debian import executable

HERE = Path(__file__).parent


def told(*command: str | Path) -> tuple[int, str]:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_prometheus_takes_its_configuration_with_the_rules() -> None:
    promtool = executable("promtool", "prometheus")

    code, text = told(promtool, "check", "config", DEPLOY / "prometheus" / "prometheus.yml")

    assert code == 0, text
    assert "20 rules found" in text


def test_rules_fire_when_they_should() -> None:
    promtool = executable("promtool", "prometheus")

    code, text = told(promtool, "test", "rules", HERE / "rules_test.yml")

    assert code == 0, text


def test_alertmanager_takes_its_configuration() -> None:
    amtool = executable("amtool", "prometheus-alertmanager")

    code, text = told(amtool, "check-config", DEPLOY / "alertmanager" / "alertmanager.yml")

    assert code == 0, text
