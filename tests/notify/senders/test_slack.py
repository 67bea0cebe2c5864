"""Class slack: what is posted to the webhook is what Slack takes, and what people need."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.messages import digest, message, partition
from support.servers.http_receiver import http_receiver

from warren.config import Config, FrozenMap, General, HttpServer, Secret, SlackNotifier
from warren.errors import SendFailed
from warren.model.status import Status
from warren.notify.message import Message
from warren.notify.senders.slack import SlackSender

CONFIG = Config(general=General(external_url="https://warren.example.com"))


def slack(url: str = "http://localhost/", config: Config = CONFIG, **keys: Any) -> SlackSender:
    notifier = SlackNotifier(name="n", class_name="slack", webhook_url=Secret(url), **keys)
    return SlackSender(notifier, config)


def payload(given: Message, config: Config = CONFIG) -> dict[str, Any]:
    written: dict[str, Any] = json.loads(slack(config=config).write(given))
    return written


def texts(block: Any) -> Iterator[tuple[str, str]]:
    """Every text of a block with the kind of thing it stands in."""
    if "fields" in block:
        yield from (("field", each["text"]) for each in block["fields"])
    if "text" in block:
        yield block["type"], block["text"]["text"]


def all_text(given: Message) -> str:
    blocks = payload(given)["blocks"]
    return "\n".join(text for block in blocks for _, text in texts(block))


def test_a_message_says_who_how_much_since_when_and_where_to_look() -> None:
    written = payload(message(group="billing"))

    text = all_text(message(group="billing"))
    assert written["text"] == ":red_circle: billing has stopped, stalled or gone back (ERR)"
    assert written["blocks"][0]["type"] == "header"
    assert "*Group*\n`billing`" in text
    assert "*Cluster*\n`local`" in text
    assert "*Total lag*\n12,354" in text
    assert "<!date^1700000000^{date_short_pretty} {time}|2023-11-14T22:13:20Z>" in text
    assert "*Bad partitions*\n2 of 3" in text
    assert "```STOP   orders:3  lag 12,345\nWARN   bills:0  lag 9```" in text
    assert "<https://warren.example.com/#/group/local/billing|Open in Warren>" in text


def test_a_close_is_green() -> None:
    assert payload(message("close", "billing"))["text"] == (
        ":large_green_circle: billing is good again"
    )
    gone = message("close", "billing", Status.NOTFOUND)
    assert payload(gone)["text"] == ":large_green_circle: billing is gone"


def test_a_lag_alert_says_why() -> None:
    lag = message(group="billing", status=Status.OK, reason="lag of 9 is above 5", partitions=())

    assert payload(lag)["text"] == ":large_yellow_circle: billing: lag of 9 is above 5"
    assert "lag of 9 is above 5" in all_text(lag)


def test_names_mean_nothing_to_slack() -> None:
    evil = "<!channel> & `code` <http://x|y> /#?% \udcff"

    text = all_text(message(group=evil))

    assert "<!channel>" not in text
    assert "&lt;!channel&gt; &amp; 'code' &lt;http://x|y&gt;" in text
    link = "%3C%21channel%3E%20%26%20%60code%60%20%3Chttp%3A%2F%2Fx%7Cy%3E%20%2F%23%3F%25%20%3F"
    assert f"<https://warren.example.com/#/group/local/{link}|Open" in text


def test_slacks_limits_are_kept_however_much_there_is_to_say() -> None:
    partitions = tuple(partition("t" * 249, n, Status.STOP, n) for n in range(5_000))
    long_name = "<&>" * 5_000
    messages = {
        "many partitions": message(partitions=partitions),
        "long name": message(group=long_name, reason=long_name),
        "long lines": digest(count=10_000),
        "close": digest("close", count=10_000),
    }

    limits = {"header": 150, "field": 2000, "section": 3000}
    too_long = [
        (name, kind, len(text))
        for name, given in messages.items()
        for block in payload(given)["blocks"]
        for kind, text in texts(block)
        if not 0 < len(text) <= limits[kind]
    ]
    counts = {name: len(payload(given)["blocks"]) for name, given in messages.items()}

    assert too_long == []
    assert max(counts.values()) <= 50
    assert "and 4,990 more partitions" in all_text(messages["many partitions"])


def test_the_worst_partitions_come_first() -> None:
    partitions = (
        partition("a", 0, Status.WARN, 900),
        partition("b", 0, Status.STOP, 1),
        partition("c", 0, Status.WARN, 1_000),
    )

    text = all_text(message(partitions=partitions))

    assert "```STOP   b:0  lag 1\nWARN   c:0  lag 1,000\nWARN   a:0  lag 900```" in text


def test_a_digest_tells_of_all_that_fit_and_counts_the_rest() -> None:
    few, many = all_text(digest(count=3)), all_text(digest(count=10_000))

    assert "3 consumer groups need attention" in few
    assert "local: 3 ERR" in few
    assert few.index("group-2") < few.index("group-1") < few.index("group-0")
    shown = many.count("ERR local group-")
    assert shown > 500
    link = "<https://warren.example.com|listed in Warren>"
    assert f"and {10_000 - shown:,} more groups, {link}" in many


def test_the_link_leads_to_the_first_listener_unless_a_url_is_given() -> None:
    def link(address: str, **keys: Any) -> str:
        server = HttpServer(name="h", address=address, **keys)
        config = Config(httpservers=FrozenMap({"h": server}))
        return str(payload(message(group="g"), config)["blocks"][-1])

    assert "<http://10.0.0.1:8000/#/group/local/g|" in link("10.0.0.1:8000")
    assert "<https://[::1]:8000/#/group/local/g|" in link("[::1]:8000", tls="t")
    assert ":8000/#/group/local/g|" in link(":8000")
    assert "Open in Warren" not in link(":0")


def test_slacks_answers_are_told_and_the_webhook_is_not() -> None:
    with http_receiver() as receiver:
        sender = slack(f"{receiver.url}/services/T0/B0/hush")
        assert sender.send(message()) == "200 OK: ok"
        receiver.status, receiver.answer = 404, b"no_service"
        with pytest.raises(SendFailed) as raised:
            sender.send(message())
        sender.close()

    assert receiver.got[0].path == "/services/T0/B0/hush"
    assert str(raised.value) == f"{receiver.url} answered 404 Not Found: no_service"
    assert not raised.value.retry


def test_a_template_of_ones_own_is_the_whole_message(tmp_path: Path) -> None:
    file = tmp_path / "s.tmpl"
    file.write_text('{"text":{{jsonencoder .Group}}}')
    sender = slack(template_open=str(file))

    assert sender.write(message(group="g")) == b'{"text":"g"}'
    assert b"consumer groups need attention" in sender.write(digest())
