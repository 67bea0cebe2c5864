"""What can be told of the files for containers without a container engine."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from generator.made import DEPLOY

from warren import config
from warren.config.sinks import HttpSink

ROOT = DEPLOY.parent
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
DOCKERFILE = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} +(.+)$", DOCKERFILE, re.MULTILINE)


def manifests() -> dict[str, Any]:
    files = (DEPLOY / "kubernetes").glob("*.yaml")
    return {file.name: yaml.safe_load(file.read_text()) for file in files}


@pytest.mark.parametrize("folder", ["compose", "kubernetes"])
def test_configurations_are_what_warren_takes(folder: str) -> None:
    loaded = config.load(DEPLOY / folder / "burrow.toml", {})

    assert loaded.unknown == []
    assert loaded.unused == []
    assert loaded.config.httpservers["default"].address == ":8000"


def test_sinks_of_compose_lead_to_its_services() -> None:
    sinks = config.load(DEPLOY / "compose" / "burrow.toml", {}).config.sinks

    hosts = {urlsplit(sink.url).hostname for sink in sinks.values() if isinstance(sink, HttpSink)}

    assert hosts == {"influxdb", "elasticsearch"}
    assert hosts <= COMPOSE["services"].keys()


def test_compose_has_everything_and_exact_versions() -> None:
    services = COMPOSE["services"]
    images = {name: each["image"] for name, each in services.items() if "build" not in each}

    wanted = {"kafka", "warren", "influxdb", "elasticsearch", "prometheus", "grafana"}
    assert wanted <= services.keys()
    assert [name for name, tag in images.items() if not re.search(r":v?\d+\.\d+\.\d+$", tag)] == []


def test_compose_mounts_what_is_there() -> None:
    mounts = [m for each in COMPOSE["services"].values() for m in each.get("volumes", [])]
    sources = [mount.split(":")[0] for mount in mounts]

    missing = [
        source
        for source in sources
        if (
            not (DEPLOY / source).exists() if source[0] == "." else source not in COMPOSE["volumes"]
        )
    ]
    assert missing == []


def test_compose_opens_ports_to_this_machine_only() -> None:
    ports = [port for each in COMPOSE["services"].values() for port in each.get("ports", [])]

    assert ports
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []


def test_the_image_copies_what_is_there_and_lets_it_into_the_build() -> None:
    sources = [words.split()[:-1] for words in instructions("COPY")]
    let_in = (DEPLOY / "Dockerfile.dockerignore").read_text()

    flat = [source for line in sources for source in line]
    assert flat
    assert [each for each in flat if not (ROOT / each).exists() or f"!{each}" not in let_in] == []


def test_the_image_is_pinned_runs_as_nobody_special_and_is_probed() -> None:
    (base,) = instructions("FROM")

    assert re.fullmatch(r"python:3\.\d+-slim-\w+", base)
    (user,) = instructions("USER")
    (made,) = re.findall(r"useradd (.*?) +&&", DOCKERFILE)
    assert made.endswith("warren")
    assert f"groupadd --gid {user.partition(':')[2]} warren" in DOCKERFILE
    assert re.findall(r"--(?:u|g)id (\d+)", made) == user.split(":")
    assert "/burrow/admin" in instructions("HEALTHCHECK")[0]


def test_the_image_is_prepared_where_warren_looks_when_it_runs() -> None:
    (prepare,) = [line for line in instructions("RUN") if "warren prepare" in line]
    cache, after = DOCKERFILE.index("ENV XDG_CACHE_HOME=/opt/warren/"), DOCKERFILE.index(prepare)

    assert cache < after < DOCKERFILE.index("USER ")
    assert "--no-demo" in prepare
    assert prepare.startswith("python -m warren prepare")


def test_kubernetes_probes_and_mounts_what_warren_has() -> None:
    pod = manifests()["statefulset.yaml"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    claims = manifests()["statefulset.yaml"]["spec"]["volumeClaimTemplates"]
    volumes = {v["name"] for v in pod["volumes"]} | {c["metadata"]["name"] for c in claims}

    probes = {n: container[n]["httpGet"]["path"] for n in ("livenessProbe", "readinessProbe")}
    assert probes == {
        "livenessProbe": "/burrow/admin",
        "readinessProbe": "/burrow/admin/ready",
    }
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes
    ids = pod["securityContext"]
    assert ids["runAsNonRoot"] is True
    assert instructions("USER") == [f"{ids['runAsUser']}:{ids['runAsGroup']}"]
    assert ids["fsGroup"] == ids["runAsGroup"]


def test_kubernetes_lists_every_manifest() -> None:
    found = manifests()
    listed = found.pop("kustomization.yaml")

    assert {*listed["resources"]} == found.keys()
    (configuration,) = listed["configMapGenerator"]
    assert [Path(DEPLOY, "kubernetes", f).exists() for f in configuration["files"]] == [True]


def test_the_service_of_systemd_starts_what_is_there() -> None:
    text = (DEPLOY / "systemd" / "warren.service").read_text()
    settings = dict(re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE))

    assert settings["ExecStart"].startswith("/opt/warren/warren serve ")
    assert "ExecStartPre" not in settings  # serve checks the same, and nothing stricter may
    assert (ROOT / "warren").exists()
    assert (settings["Type"], settings["KillSignal"]) == ("exec", "SIGTERM")
    assert (settings["StateDirectory"], settings["NoNewPrivileges"]) == ("warren", "yes")


def test_comments_name_pages_that_are_there_and_tell_of_the_lock() -> None:
    files = [file for file in DEPLOY.rglob("*") if file.suffix in {".yaml", ".service", ".toml"}]
    named = {page for file in files for page in re.findall(r"docs/[\w-]+\.md", file.read_text())}
    replicas = (DEPLOY / "kubernetes" / "statefulset.yaml").read_text()

    assert named
    assert [page for page in named if not (ROOT / page).exists()] == []
    assert "docs/zookeeper.md" in replicas
    assert "`general.notifier-lock`" in (ROOT / "docs/zookeeper.md").read_text()
