"""What reads bytes that others wrote. A target takes any bytes, and raises only if there is a bug.

`./fuzz` runs them for long, guided by coverage where that can be had; `./check` for seconds.
"""

import io
import json
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import structlog
from support import records, reported
from support.batches import NOW, Record, batch, log_ends
from support.config_files import MINIMAL
from support.messages import message
from support.sample_snapshots import fill, only_file, snapshots

from warren.config import Consumer, GroupFilter, Notifier, Storage, load, render_effective
from warren.decode.group_records import parse_group_record
from warren.errors import ConfigError, TemplateFailed
from warren.evaluate.judge import JudgeSettings, judge
from warren.model.group_events import Malformed
from warren.model.offset_reports import Report
from warren.notify.templates import template_files
from warren.pipeline.cluster import Accepts, new_cluster
from warren.pipeline.outside_consumer import OutsideConsumer
from warren.pipeline.reported_offsets import ReportCheck
from warren.pipeline.steps import fold_outside_changes
from warren.serve.v4.offsets import read_reports
from warren.serve.v4.query_words import about
from warren.sources.outside_changes import ChangeCollector
from warren.sources.zookeeper_tree import Kind, Leaf, TreeChanges
from warren.windows.group_lives import GroupLives
from warren.windows.group_members import Membership
from warren.windows.limits import Limits
from warren.windows.window_reader import window_arrays
from warren.windows.windows import Windows

FEW = Limits(groups=50, topics=50, partitions=500)
ORDERS = b"orders".ljust(16)
ROOT = Path(__file__).parents[2]


class Target(NamedTuple):
    take: Callable[[bytes], object]
    samples: Sequence[bytes]
    words: Sequence[bytes] = ()


@cache
def scratch() -> Path:
    return Path(tempfile.mkdtemp(prefix="warren-fuzz-"))


_membership, _lives = Membership(FEW), GroupLives()
_windows = Windows(limits=FEW)
_windows.set_log_ends(log_ends(9, topic="orders"), {"orders": 1})
_windows.fold(batch(Record(1, 5, group="g", topic="orders")), NOW)


def take_group_record(data: bytes) -> None:
    """The first byte is the length of the key."""
    size = data[0] if data else 0
    event = parse_group_record(data[1 : 1 + size], data[1 + size :] or None)
    if isinstance(event, Malformed):
        return
    _membership.fold([event], [float(sum(data))])
    assert len(_membership.groups) <= FEW.groups
    arrays = window_arrays(_windows)
    life = _lives.read(_windows, _membership, arrays, 1e6)
    assert len(life.is_subscribed) == len(arrays.rows)
    if not sum(data) % 100:  # it takes far longer than the rest
        again = Membership(FEW)
        again.restore(_membership.dump())
        assert again.groups == _membership.groups


def group_records() -> list[bytes]:
    members = [records.ClassicMember(f"m{n}", assigned={"orders": [n, n + 1]}) for n in range(3)]
    assigned = {ORDERS: [1, 2]}
    whole = [
        *((records.group_key("g"), records.group_value(members, version=v)) for v in range(5)),
        (records.group_key("g", 3), records.epoch_value(3)),
        (records.group_key("g", 4), records.topics_value({ORDERS: "orders"})),
        (records.member_key("g", "m", 5), records.member_value()),
        (records.member_key("g", "m", 7), records.target_value(assigned)),
        (records.member_key("g", "m", 8), records.current_value(assigned, revoking=assigned)),
        (records.member_key("g", "m", 5), records.member_value(topics=(), expression="o.*")),
        (records.member_key("g", "o.*", 16), records.expression_value(["orders"])),
        (records.member_key("s", "m", 10), records.share_member_value(["orders"])),
        (records.group_key("s", 11), records.share_epoch_value(3)),
        (records.member_key("t", "m", 19), records.streams_member_value("i")),
        (records.group_key("t", 23), records.topology_value(["orders"], ["o.*"])),
        (records.group_key("g"), b""),
        (records.member_key("g", "m", 8), b""),
        (records.member_key("g", "o.*", 16), b""),
    ]
    return [bytes([len(key)]) + key + value for key, value in whole]


def _load(name: str, data: bytes) -> None:
    file = scratch() / name
    file.write_bytes(data)
    try:
        shown = render_effective(load(file, {}))
    except ConfigError as error:
        problems, shown = error.problems, ""
    else:
        problems = []
    assert problems or shown.startswith("[general]\n")
    assert [problem for problem in problems if "\n" in problem] == []


TABLES = {
    "general": {"pidfile": "warren.pid", "state-dir": "state"},
    "cluster": {"local": {"class-name": "kafka", "servers": ["h:9092"], "offset-refresh": 3}},
    "consumer": {"local": {"class-name": "kafka", "cluster": "local", "servers": ["h:9092"]}},
    "notifier": {"n": {"class-name": "http", "url-open": "http://h/{{.Group}}", "interval": 5}},
    "storage": {"default": {"intervals": 10, "group-allowlist": "^a(b|c)$"}},
}
DOTENV = b"""# a comment
cluster.local.class-name=kafka
export cluster.local.servers="h:9092" # and one
consumer.local.class-name = 'kafka'
consumer.local.cluster: local
"""
YAML = b"""cluster:
  local: {class-name: kafka, servers: [h:9092]}
consumer:
  local: &it
    class-name: kafka
    cluster: local
    servers:
      - h:9092
  other: *it
"""
CONFIG_WORDS = (b"[general]\n", b"[[a]]", b"<<: *it", b"!!python/name:os", b"'''", b"1e999", b"\n")


def take_template(data: bytes) -> None:
    """A template after a line that is the group's name."""
    group, _, source = data.partition(b"\n")
    file = scratch() / "a.tmpl"
    file.write_bytes(source)
    notifier = Notifier(name="n", class_name="null", template_open=str(file))
    try:
        template = template_files.of_files(notifier)["open"]
        template.render(message(group=group.decode("utf-8", "surrogateescape")))
    except TemplateFailed:
        return


def shipped_templates() -> list[bytes]:
    recording = ROOT / "tests/notify/templates/go-templates.json"
    recorded = json.loads(recording.read_text())["templates"]
    sources = [case["template"].encode() for case in recorded.values()]
    sources += [file.read_bytes() for file in sorted((ROOT / "config").glob("*.tmpl"))]
    return [b"group\n" + source for source in sources]


TEMPLATE_WORDS = (
    b"{{", b"}}", b"{{range .Result.Partitions}}", b"{{end}}", b'{{template "a" .}}', b"$x := ",
    b'{{define "a"}}', b"| printf `%d`", b"jsonencoder", b"partitioncounts", b"formattimestamp",
    b"{{with .Result.Maxlag}}", b"index", b"slice", b"html", b"urlquery", b".Extras.a", b"{{- ",
)  # fmt: skip


@cache
def _zookeeper(class_name: str) -> tuple[OutsideConsumer, ChangeCollector]:
    storage = Storage(name="default", max_groups=50, max_topics=50, max_partitions=500)
    consumer = Consumer(
        name="z", cluster="c", servers=("h:1",), class_name=class_name, zookeeper_path="/z"
    )
    outside_consumer = OutsideConsumer(
        consumer, new_cluster("c", storage), Accepts(GroupFilter("^[^x]"))
    )
    return outside_consumer, ChangeCollector(outside_consumer.layout)


def take_node(class_name: str, data: bytes) -> None:
    """A path up to a zero byte, and what the node holds."""
    path, _, held = data.partition(b"\0")
    parts = tuple(path.decode("utf-8", "replace").split("/"))
    outside_consumer, reports = _zookeeper(class_name)
    if outside_consumer.layout.kind(parts) is not Kind.LEAF:
        return
    for changes in (TreeChanges({parts: Leaf(held, 1, 1)}, [], 0), TreeChanges({}, [parts], 0)):
        fold_outside_changes(outside_consumer, reports.take(changes), 2_000_000_000)
    assert reports.groups == set()


@cache
def _whole_snapshot() -> bytes:
    of = snapshots(scratch() / "whole")
    of.directory.mkdir()
    fill(of)
    of.save()
    return only_file(of.directory).read_bytes()


def take_snapshot(data: bytes) -> None:
    of = snapshots(scratch() / "snapshot")
    of.directory.mkdir(exist_ok=True)
    file = of.directory / "a%2Fb.npz"
    file.write_bytes(data)
    of.restore()
    (cluster,) = of.clusters.values()
    assert file.exists() == bool(cluster.restored_s)
    if cluster.restored_s:
        judge(window_arrays(cluster.windows), JudgeSettings(), 2_000_000_000)
        cluster.ends_s = 1.0
        of.save()


def take_snapshot_array(data: bytes) -> None:
    """A snapshot with right checksums, one array of which, the first byte's, holds other bytes."""
    with np.load(io.BytesIO(_whole_snapshot())) as held:
        arrays = {name: held[name] for name in held.files}
    names = sorted(arrays)
    name = names[data[0] % len(names)] if data else names[0]
    dtype, width = arrays[name].dtype, arrays[name].shape[1:]
    row = dtype.itemsize * int(np.prod(width))
    flat = np.frombuffer(data[1 : 1 + (len(data) - 1) // row * row], dtype)
    arrays[name] = flat.reshape(-1, *width)
    out = io.BytesIO()
    np.savez(out, **arrays)
    take_snapshot(out.getvalue())


def snapshot_arrays() -> list[bytes]:
    with np.load(io.BytesIO(_whole_snapshot())) as held:
        return [bytes([at]) + held[name].tobytes() for at, name in enumerate(sorted(held.files))]


def quiet() -> None:
    """Set-aside snapshots and skipped records are told of; thousands of them need not be."""
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())


_reported = reported.consumer(max_groups=int(FEW.groups))
REPORTS = [
    b'{"group":"g","topic":"orders","partition":1,"offset":5,"time":"2023-11-14T22:13:20Z"}',
    b'[{"group":"g","offsets":{"orders":{"0":7},"bills":{"0":1}},"complete":true,"query":null}]',
    b'{"group":"g","query":{"run_id":"r","batch":1,"input_rate":1.5,"ended":true,"error":"x"}}',
]


def take_reports(data: bytes) -> None:
    """As a worker does, over its socket, and as the pipeline does."""
    read = read_reports(data)
    if isinstance(read, str):
        return
    passed = msgspec.json.decode(msgspec.json.encode(read[0]), type=list[Report])
    assert passed == read[0]
    taken = ReportCheck([_reported]).take(passed)
    json.dumps([each.why for each in (*taken.refused, *read[1])])
    _reported.fold(_reported.collect())
    names = _reported.cluster.windows.pairs.groups
    assert len(names) <= FEW.groups
    assert len(_reported.cluster.queries) <= FEW.groups
    for query in _reported.cluster.queries.values():
        assert about(query, reported.NOW_MS)


def targets() -> dict[str, Target]:
    spout = b'{"topology":{"id":"i"},"offset":4285,"partition":1,"broker":{"host":"h"},"topic":"t"}'
    offsets = [b"g/offsets/t/0\x00" + b"15", b"g/owners/t/0\x00host-1", b"x/offsets/t/0\x001"]
    return {
        "group records": Target(take_group_record, group_records()),
        "toml": Target(lambda data: _load("burrow.toml", data), [MINIMAL.encode()], CONFIG_WORDS),
        "yaml": Target(lambda data: _load("burrow.yaml", data), [YAML], CONFIG_WORDS),
        "json": Target(
            lambda data: _load("burrow.json", data), [json.dumps(TABLES).encode()], CONFIG_WORDS
        ),
        "dotenv": Target(lambda data: _load("burrow.env", data), [DOTENV], CONFIG_WORDS),
        "templates": Target(take_template, shipped_templates(), TEMPLATE_WORDS),
        "zookeeper": Target(lambda data: take_node("kafka_zk", data), offsets),
        "storm": Target(
            lambda data: take_node("storm", data),
            [b"g/partition_1\x00" + spout, b"g/t/partition_1\x00" + spout],
            (b"\\ud800", b"\\u0000", b"1e3", b"partition_"),
        ),
        "reports": Target(take_reports, REPORTS, (b"null", b"-1", b"9223372036854775807")),
        "snapshots": Target(take_snapshot, [_whole_snapshot()]),
        "snapshot arrays": Target(take_snapshot_array, snapshot_arrays()),
    }
