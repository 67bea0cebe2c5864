"""Every recorded answer of Burrow, asked of Warren over HTTP."""

import json
import re

import msgspec
from compat.raw_http import Got, ask, important
from compat.replay import RECORDING, Replay

from warren.model.go_json import encode

LISTS = ("clusters", "topics", "consumers", "modules")


def test_every_recorded_answer_is_given(replay: Replay) -> None:
    replay.run()
    wrong = {}
    for number, recorded in enumerate(RECORDING["answers"]):
        now_s = recorded["at_ms"] // 1000
        if now_s != replay.now_s or number == 0:
            replay.now_s = now_s
            replay.publish()

        method, path, sent = (recorded[name] for name in ("method", "path", "request_body"))
        got = normal(ask(replay.port, method, path, sent or ""))

        headers = important(recorded["headers"])
        expected = normal(Got(recorded["status"], headers, recorded["body"]))
        if got != expected:
            wrong[f"{number} {recorded['method']} {recorded['path']}"] = (got, expected)

    assert wrong == {}


def normal(got: Got) -> Got:
    """Without what the machine and chance decide: host name and the order of lists."""
    body = re.sub(r'"host":"[^"]*"', '"host":"vm"', got.body)
    if got.body.startswith("#"):
        return Got(got.status, got.headers, "\n".join(burrow_lines(body)))
    if got.headers.get("content-type") == "application/json":
        body = in_order(body)
    return Got(got.status, got.headers, body)


def burrow_lines(body: str) -> list[str]:
    return sorted(line for line in body.splitlines() if "burrow_" in line)


def in_order(body: str) -> str:
    """The same bytes with lists sorted; every number stays as it is written."""
    answer = json.loads(body, parse_float=lambda text: msgspec.Raw(text.encode()))
    for name in LISTS:
        if isinstance(answer.get(name), list):
            answer[name].sort()
    status = answer.get("status")
    if isinstance(status, dict):
        status["partitions"].sort(key=lambda each: (each["topic"], each["partition"]))
    again = encode(answer).decode()
    assert len(again) == len(body), body  # re-encoding has changed nothing but the order
    return again
