"""What OpenSearch stores and refuses, and what is made of it."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support.certificates import make_certificates
from support.servers.opensearch import OpenSearch
from support.servers.store_receiver import Told, receiver
from support.telegraf import RECORDED, in_order, recorded_documents

from warren.config import ElasticsearchSink, Secret, Tls
from warren.errors import Undelivered
from warren.sinks.elasticsearch import Elasticsearch
from warren.sinks.store_delivery import Rejected, StoreDelivery


@pytest.fixture
def search(opensearch: OpenSearch) -> OpenSearch:
    """One for the whole run: the indices of this file are its own."""
    return opensearch


@pytest.fixture
def delivery(tmp_path: Path) -> StoreDelivery:
    return StoreDelivery("x", Rejected("x", tmp_path / "rejected.jsonl"))


def sink(url: str, tls: Tls | None = None, **settings: object) -> Elasticsearch:
    given = {"name": "x", "class_name": "elasticsearch", "url": url, "timeout": 30}
    return Elasticsearch(ElasticsearchSink(**{**given, **settings}), tls)  # type: ignore[arg-type]  # a mixed lot


def entry(index: str, name: str, document: dict[str, Any]) -> str:
    action = {"index": {"_index": index, "_id": name}}
    return f"{json.dumps(action)}\n{json.dumps(document)}\n"


def test_telegrafs_documents_are_stored_once_and_can_be_searched(
    search: OpenSearch, delivery: StoreDelivery
) -> None:
    store = sink(search.url, index="recorded-%Y.%m.%d")
    documents = RECORDED["elasticsearch"]["documents"]
    entries = [
        entry("recorded-2026.11.15", str(number), each["_source"])
        for number, each in enumerate(documents)
    ]

    delivery.retry(store.prepare, 0)
    delivery.send(pa.array(entries), store.post)
    delivery.send(pa.array(entries), store.post)

    stored = [hit["_source"] for hit in search.documents("recorded-*")]
    assert in_order(stored) == recorded_documents()
    by_group = search.ask(
        "POST",
        "/recorded-*/_search",
        {
            "size": 0,
            "query": {"range": {"burrow_group.total_lag": {"gte": 260}}},
            "aggs": {
                "group": {
                    "terms": {"field": "tag.group", "size": 100},
                    "aggs": {"lag": {"sum": {"field": "burrow_group.total_lag"}}},
                }
            },
        },
    )
    lags = {b["key"]: b["lag"]["value"] for b in by_group["aggregations"]["group"]["buckets"]}
    assert lags == {
        each["_source"]["tag"]["group"]: each["_source"]["burrow_group"]["total_lag"]
        for each in documents
        if each["_source"].get("burrow_group", {}).get("total_lag", 0) >= 260
    }


def test_fields_have_types_that_numbers_and_dates_can_be_asked_by(search: OpenSearch) -> None:
    store = sink(search.url, index="lag-%Y.%m.%d")

    store.prepare()
    store.post(pa.array([entry("lag-2026.11.15", "1", {"tag": {"group": "a", "rack": "r"}})]))

    (index,) = search.ask("GET", "/lag-*/_mapping").values()
    fields = index["mappings"]["properties"]
    group = {name: kind["type"] for name, kind in fields["burrow_group"]["properties"].items()}
    assert group == {
        "lag": "long",
        "scalable_lag": "long",
        "expires_s": "float",
        "offset": "long",
        "partition_count": "long",
        "status": "keyword",
        "status_code": "byte",
        "timestamp": "date",
        "total_lag": "long",
        **dict.fromkeys(("lag_low", "lag_high", "lost", "never_drains", "will_lose"), "long"),
        **dict.fromkeys(("age_s", "age_low_s", "age_high_s", "margin_s"), "float"),
        **dict.fromkeys(("drain_low_s", "drain_high_s"), "float"),
        "age_method": "keyword",
    }
    assert fields["@timestamp"]["type"] == "date"
    assert {kind["type"] for kind in fields["tag"]["properties"].values()} == {"keyword"}


def test_rejected_documents_are_parked_by_reason_and_the_rest_stored(
    search: OpenSearch, delivery: StoreDelivery
) -> None:
    store = sink(search.url, index="mixed-%Y")
    absurd = {"lag": 2**63 - 1, "offset": -(2**63), "timestamp": 2**63 - 1}  # anybody may commit it
    good: list[dict[str, Any]] = [{"burrow_group": each} for each in ({"lag": 0}, absurd, absurd)]
    bad: list[dict[str, Any]] = [{"burrow_group": {"lag": "much"}}, {"@timestamp": "never"}]
    entries = [entry("mixed-2026", str(n), each) for n, each in enumerate([*bad, *good])]

    delivery.retry(store.prepare, 0)
    delivery.send(pa.array(entries), store.post)

    assert [hit["_id"] for hit in search.documents("mixed-*")] == ["2", "3", "4"]
    assert delivery.outcomes["sent"] == 3
    assert delivery.outcomes["rejected"] == 2
    parked = [json.loads(line) for line in delivery.rejected.file.read_text().splitlines()]
    assert [each["point"] for each in parked] == entries[:2]
    names = ("mapper_parsing_exception: ", "document_parsing_exception: ")  # Elasticsearch 8's
    assert all(each["reason"].startswith(names) for each in parked)


def item(status: int, kind: str = "") -> dict[str, Any]:
    error = {"error": {"type": kind, "reason": "because"}} if kind else {}
    return {"index": {"status": status, **error}}


def test_documents_that_are_put_off_come_again(delivery: StoreDelivery) -> None:
    mixed = [item(201), item(429, "queue full"), item(400, "mapper"), item(503, "no shard")]
    with receiver() as server:
        server.answers += [
            (200, json.dumps({"errors": True, "items": mixed}), {}),
            (200, json.dumps({"errors": False, "items": []}), {}),
        ]
        key = sink(server.url, api_key=Secret("k3y"))
        delivery.send(pa.array([entry("i", name, {}) for name in "abcd"]), key.post)

    first, second = server.requests
    assert first.path == "/_bulk"
    assert first.headers["Authorization"] == "ApiKey k3y"
    assert first.headers["Content-Type"] == "application/x-ndjson"
    assert second.text == entry("i", "b", {}) + entry("i", "d", {})
    assert delivery.outcomes["sent"] == 3
    assert dict(delivery.rejected.reasons) == {"mapper: because": 1}


def test_only_a_trusted_server_and_a_known_user_are_spoken_with(tmp_path: Path) -> None:
    ca = tmp_path / "ca.pem"
    trusting = Tls(name="x", cafile=str(ca))
    taken: Told = (200, json.dumps({"errors": False, "items": []}), {})
    logins: dict[str, dict[str, Any]] = {
        "Basic d2FycmVuOnMzY3JldA==": {"username": "warren", "password": Secret("s3cret")},
        "ApiKey a2V5": {"api_key": Secret("a2V5")},
    }
    with receiver(make_certificates(ca)) as server:
        for server.login, settings in logins.items():
            server.answers += [(200, "{}", {}), taken]
            with closing(sink(server.url, trusting, **settings)) as store:
                store.prepare()
                store.post(pa.array([entry("i", "a", {})]))
            with closing(sink(server.url, trusting)) as stranger, pytest.raises(Undelivered) as no:
                stranger.prepare()
            assert "answers 401 Unauthorized: who are you" in str(no.value)
        with closing(sink(server.url, **settings)) as doubting, pytest.raises(Undelivered) as bad:
            doubting.prepare()

    assert "certificate verify failed" in str(bad.value)
    paths = [request.path for request in server.requests]
    assert paths == ["/_index_template/warren-telegraf", "/_bulk", paths[0]] * 2


def test_a_server_that_knows_only_the_older_templates_gets_one() -> None:
    unknown = "no handler found for uri [/_index_template/warren-telegraf] and method [PUT]"
    with receiver() as server:
        server.answers += [(400, json.dumps({"error": unknown}), {}), (200, "{}", {})]
        sink(server.url).prepare()

    newer, older = server.requests
    assert (newer.method, older.method) == ("PUT", "PUT")
    assert older.path == "/_template/warren-telegraf"
    assert json.loads(older.text)["mappings"] == json.loads(newer.text)["template"]["mappings"]


def test_a_template_that_is_refused_is_told_with_a_way_out() -> None:
    with receiver() as server:
        server.answers.append((400, "no such codec", {}))
        with pytest.raises(Undelivered, match=r"refused: no such codec.*manage-template = false"):
            sink(server.url).prepare()
        sink(server.url, manage_template=False).prepare()

    assert len(server.requests) == 1


def test_a_server_that_is_not_there_is_told_so() -> None:
    with receiver() as server:
        pass

    with pytest.raises(Undelivered, match="cannot be reached"):
        sink(server.url).prepare()
