"""What InfluxDB says, and what is made of it."""

from pathlib import Path

import pyarrow as pa
import pytest
from support.servers.influxdb import InfluxDB as Server
from support.servers.store_receiver import Told, receiver

from warren.config import InfluxdbSink, Secret
from warren.errors import Undelivered
from warren.sinks.influxdb import InfluxDB
from warren.sinks.store_delivery import Rejected, StoreDelivery


def line(number: int, value: str = "1i") -> str:
    return f"m,tag={number} lag={value} {number}000000\n"


def sink(url: str, **settings: object) -> InfluxDB:
    given = {"name": "x", "class_name": "influxdb", "url": url, "database": "lag", "timeout": 5}
    return InfluxDB(InfluxdbSink(**{**given, **settings}), None)  # type: ignore[arg-type]  # a mixed lot


def test_bad_points_among_good_ones_are_parked_and_the_good_ones_stored(tmp_path: Path) -> None:
    points = [line(number, '"text"' if number in {3, 70} else "1i") for number in range(100)]
    delivery = StoreDelivery("x", Rejected("x", tmp_path / "rejected.jsonl"))

    with Server(tmp_path / "influx", "warren", "secret") as server:
        login = {"username": "warren", "password": Secret("secret")}
        store = sink(server.url, database='odd "name"', **login)
        delivery.retry(store.prepare, 0)
        (made,) = server.query("SHOW DATABASES")
        delivery.send(pa.array([line(0), "m lag= 5\n"]), store.post)
        delivery.send(pa.array(points), store.post)
        delivery.send(pa.array(points), store.post)
        (series,) = server.query("SELECT count(lag) FROM m", 'odd "name"')
        wrong = sink(server.url, username="warren", password=Secret("wr0ng"))
        with pytest.raises(Undelivered) as refused:
            wrong.post(pa.array([line(1)]))

    assert ['odd "name"'] in made["values"]
    assert series["values"][0][1] == 98
    assert delivery.outcomes["rejected"] == 1 + 2 + 2
    assert len(delivery.rejected.file.read_text().splitlines()) == 5
    assert any("field type conflict" in reason for reason in delivery.rejected.reasons)
    assert "answers 401 Unauthorized" in str(refused.value)
    assert "wr0ng" not in str(refused.value)


def test_version_two_is_asked_by_bucket_and_token() -> None:
    with receiver() as server:
        store = sink(server.url, database="", bucket="b", org="o", token=Secret("t0ken"))

        answer = store.post(pa.array([line(1), line(2)]))

    (request,) = server.requests
    assert not answer.objection
    assert request.path == "/api/v2/write"
    assert request.params == {"bucket": ["b"], "org": ["o"], "precision": ["ns"]}
    assert request.headers["Authorization"] == "Token t0ken"
    assert request.text == line(1) + line(2)


ANSWERS = {
    "busy": (429, '{"message": "slow down"}', {"Retry-After": "7"}),
    "broken": (500, "oops", {}),
    "not allowed": (403, '{"message": "not you"}', {}),
    "gone": (404, '{"message": "bucket not found"}', {}),
    "moved": (302, "", {}),
}


def test_answers_that_are_not_about_the_points_keep_them_waiting() -> None:
    told = {}
    with receiver() as server:
        for name, answer in ANSWERS.items():
            server.answers.append(answer)
            with pytest.raises(Undelivered) as failure:
                sink(server.url, database="", bucket="b").post(pa.array([line(1)]))
            told[name] = (str(failure.value), failure.value.pause_s)
        server.answers.append((413, "too large", {}))
        too_large = sink(server.url).post(pa.array([line(1)]))

    assert told == {
        "busy": (f'{server.url} answers 429 Too Many Requests: {{"message": "slow down"}}', 7.0),
        "broken": (f"{server.url} answers 500 Internal Server Error: oops", None),
        "not allowed": (f'{server.url} answers 403 Forbidden: {{"message": "not you"}}', None),
        "gone": (f'{server.url} answers 404 Not Found: {{"message": "bucket not found"}}', None),
        "moved": (f"{server.url} answers 302 Found: ", None),
    }
    assert too_large.is_too_large


def test_a_complaint_that_is_not_about_points_is_told_and_waited_for(tmp_path: Path) -> None:
    delivery = StoreDelivery("x", Rejected("x", tmp_path / "rejected.jsonl"))
    no_org: Told = (400, '{"code": "invalid", "message": "Please provide either orgID or org"}', {})
    with receiver() as server:
        store = sink(server.url, database="", bucket="b")
        store.prepare()
        server.answers += [no_org] * 4
        delivery.send(pa.array([line(number) for number in range(3)]), store.post)

    assert delivery.outcomes == {"sent": 3, "retried": 3, "failed": 3, "rejected": 0}
    assert not delivery.rejected.file.exists()
    assert server.requests[0].text == ""


def test_points_that_are_all_dropped_are_not_looked_for(tmp_path: Path) -> None:
    delivery = StoreDelivery("x", Rejected("x", tmp_path / "rejected.jsonl"))
    dropped: Told = (400, '{"error": "partial write: field type conflict dropped=3"}', {})
    with receiver() as server:
        server.answers.append(dropped)
        delivery.send(pa.array([line(number) for number in range(3)]), sink(server.url).post)

    assert len(server.requests) == 1
    assert dict(delivery.rejected.reasons) == {"field type conflict": 3}


def test_a_server_that_hangs_or_is_not_there_is_told_so() -> None:
    with receiver() as server:
        server.silent = True
        with pytest.raises(Undelivered, match="does not answer within 1 s"):
            sink(server.url, timeout=1).post(pa.array([line(1)]))

    with pytest.raises(Undelivered, match=r"cannot be reached: .*refused"):
        sink(server.url).post(pa.array([line(1)]))
