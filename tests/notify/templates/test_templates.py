"""Templates render as Go renders them, and say where they are wrong when they cannot."""

import json
from pathlib import Path

import gotpl
import msgspec
import pytest
from gotime.go import Location
from support.messages import message

from warren.config import HttpNotifier, Notifier
from warren.errors import TemplateFailed
from warren.model.status import Status
from warren.notify.message import (
    NOT_KNOWN,
    Event,
    GroupResult,
    Message,
    Offset,
    PartitionResult,
)
from warren.notify.sample import sample, sample_gone
from warren.notify.templates import go_values, template_files
from warren.notify.templates.go_functions import FUNCTIONS
from warren.notify.templates.template_files import Template

RECORDED = json.loads((Path(__file__).parent / "go-templates.json").read_text())["templates"]
SHIPPED = Path(__file__).parents[3] / "config"
EXTRAS = {"api_key": "k<1>", "app": "burrow"}
# Go fails where a pointer is nil; here the message is sent all the same.
LENIENT = {"nil pointer"}
START = Offset(100, 1_700_000_000_123, 1_700_000_001_000, 7)
END_MS = 1_700_000_540_123, 1_700_000_541_000


def recorded_message(event: Event) -> Message:
    """What Go was given when its answers were recorded."""
    p1 = PartitionResult(
        *("orders", 3, "/10.0.0.1", "billing-1", Status.STOP),
        *(START, Offset(100, *END_MS, 12_345), 12_345, 1.0),
    )
    start = Offset(5, 1_700_000_000_123, 1_700_000_001_000, None)
    p2 = PartitionResult(
        *("payments", 0, "", "", Status.WARN, start, Offset(50, *END_MS, 9), 9, 0.33333334)
    )
    start = Offset(1, 1_700_000_000_123, 1_700_000_001_000, 1)
    p3 = PartitionResult(*("orders", 4, "", "", Status.STOP, start, Offset(1, *END_MS, 1), 1, 0.5))
    names = ("local", 'a&b "c"')
    bad = GroupResult(*names, Status.ERR, 0.6666667, (p1, p2, p3), 3, p1, 12_355)
    good = GroupResult(*names, Status.OK, 1.0, (), 3, None, 0)
    result = bad if event == "open" else good
    return Message(event, *names, "id-1", 1_700_000_000_000, 1_700_000_600_000, result)


def rendered(source: str, directory: Path, given: Message) -> str | None:
    """The text, or None where it fails; the template is a file as users have them."""
    file = directory / "a.tmpl"
    file.write_bytes(source.encode())
    notifier = Notifier(name="n", class_name="null", template_open=str(file), extras=EXTRAS)  # type: ignore[arg-type]  # a plain table does
    try:
        return template_files.of_files(notifier)["open"].render(given)
    except TemplateFailed:
        return None


def test_templates_render_as_in_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(go_values, "LOCAL", Location.load("Europe/Berlin"))

    events: tuple[Event, Event] = ("open", "close")
    wrong = {
        f"{name}, {event}": (text, case[event])
        for name, case in RECORDED.items()
        for event in events
        if (text := rendered(case["template"], tmp_path, recorded_message(event))) != case[event]
        and name not in LENIENT
    }

    assert len(RECORDED) > 70
    assert wrong == {}


def test_a_nil_that_go_fails_on_has_no_value(tmp_path: Path) -> None:
    text = rendered("{{.Result.Maxlag.Topic}}", tmp_path, recorded_message("close"))

    assert text == "<no value>"


def test_what_is_wrong_is_told_with_file_and_line(tmp_path: Path) -> None:
    cases = {
        "{{.Group}}\n{{.Ident}}": ":2: there is no field Ident in the message",
        "{{.Group}}\n\n{{if .Group}}": ":3: unexpected EOF",
        "{{nothing .Group}}": ":1: function 'nothing' not defined",
        "a\n{{range .Result.Partitions}}{{.Status.Name}}{{end}}": ":2: there is no field Name "
        "in a status",
        '{{define "r"}}{{template "r"}}{{end}}{{template "r"}}': ":1: template-depth budget "
        "exceeded: limit 100, requested 101",
    }

    found = {}
    for source, expected in cases.items():
        file = tmp_path / "a.tmpl"
        file.write_text(source)
        notifier = Notifier(name="n", class_name="null", template_open=str(file))
        with pytest.raises(TemplateFailed) as raised:
            template_files.of_files(notifier)["open"].render(message())
        if str(raised.value) != f"{file}{expected}":
            found[source] = str(raised.value)

    assert found == {}


def test_urls_are_templates_without_helpers() -> None:
    notifier = HttpNotifier(name="n", class_name="http", url_open="", template_open="")
    url = template_files.of_url(notifier, "url-open", "http://h/{{.Cluster}}/{{.Group}}?id={{.ID}}")

    assert url.render(message(group="a b&c")) == "http://h/local/a b&c?id=id-1"
    with pytest.raises(TemplateFailed, match=r"notifier\.n.url-open:1: function 'add' not defined"):
        template_files.of_url(notifier, "url-open", "http://h/{{add 1 2}}")


def test_templates_are_told_the_reason_of_a_lag_alert(tmp_path: Path) -> None:
    source = "{{with .Reason}}{{.}}{{else}}a verdict{{end}}"

    assert rendered(source, tmp_path, message()) == "a verdict"
    assert rendered(source, tmp_path, message(reason="lag above 5")) == "lag above 5"


def test_templates_are_told_numbers_and_a_sentence_about_them(tmp_path: Path) -> None:
    partitions = "{{range .Result.Partitions}}{{.Numbers.Lag}};{{end}}"
    cases = {
        "{{.Result.Numbers.Age}} {{.Result.Numbers.AgeMethod}}": "625 by_ends",
        "{{duration .Result.Numbers.AgeLow}}": "10 min",
        "{{duration .Result.Numbers.DrainHigh}}": "never",
        "{{if gt .Result.Numbers.DrainLow 60.0}}slow{{end}}": "slow",
        "{{jsonencoder .Result.Numbers.Lost}}": "0",
        partitions: "4200;1300;",
        "{{.Waiting}}": "The oldest unread message is 10 min old (10 to 11), 5,500 wait (5,400 to "
        "5,500), at this pace never read, retention takes it in 10 h",
    }
    of_a_group_that_is_gone = {
        "{{.Result.Numbers.Age}}": "<nil>",
        "{{with .Result.Numbers.Age}}old{{else}}unknown{{end}}": "unknown",
        "{{duration .Result.Numbers.Age}}": "",
        "{{.Waiting}}": "",
    }
    bad, gone = sample("open", 1_700_000_000_000), sample_gone(1_700_000_000_000)

    found = {source: rendered(source, tmp_path, bad) for source in cases}
    of_gone = {source: rendered(source, tmp_path, gone) for source in of_a_group_that_is_gone}
    encoded = json.loads(rendered("{{jsonencoder .Result.Numbers}}", tmp_path, bad) or "")

    assert found == cases
    assert of_gone == of_a_group_that_is_gone
    assert encoded["drain_low_s"] == "never"
    assert encoded["age_s"] == 625


def test_what_burrow_prints_whole_has_no_numbers(tmp_path: Path) -> None:
    known = sample("open", 1_700_000_000_000)
    parts = known.result.partitions
    bare = tuple(msgspec.structs.replace(each, numbers=NOT_KNOWN) for each in parts)
    result = msgspec.structs.replace(known.result, numbers=NOT_KNOWN, partitions=bare)
    unknown = msgspec.structs.replace(known, result=result)

    for source in (
        "{{.Result.Maxlag}}",
        "{{jsonencoder .Result}}",
        "{{jsonencoder .Result.Partitions}}",
    ):
        assert rendered(source, tmp_path, known) == rendered(source, tmp_path, unknown)


def test_shipped_json_templates_are_json_whatever_the_names(tmp_path: Path) -> None:
    names = ("plain", 'qu"ote', "back\\slash", "new\nline", "<!channel> & co", "\udcff")

    parsed = {
        file.name: [
            json.loads(rendered(file.read_text(), tmp_path, message(event, name)) or "nothing")
            for name in names
            for event in ("open", "close")
        ]
        for file in SHIPPED.glob("default-*.tmpl")
        if "email" not in file.name
    }

    assert sorted(parsed) == [
        *("default-http-delete.tmpl", "default-http-post.tmpl"),
        *("default-slack-delete.tmpl", "default-slack-post.tmpl"),
    ]
    event = parsed["default-http-post.tmpl"][2]["events"][0]["event"]
    assert event["group"] == 'qu"ote'
    assert event["severity"] == "ERR"
    assert event["start"] == "Nov 14, 2023 22:13:20 UTC"
    assert parsed["default-http-post.tmpl"][1]["events"][0]["event"]["severity"] == "OK"
    assert parsed["default-http-delete.tmpl"][0]["ids"] == ["id-1"]
    fields = parsed["default-slack-post.tmpl"][8]["attachments"][0]["fields"]
    assert fields[0]["value"] == "&lt;!channel&gt; &amp; co"


def test_the_shipped_mail_says_what_it_is_about(tmp_path: Path) -> None:
    source = (SHIPPED / "default-email.tmpl").read_text()

    opened = rendered(source, tmp_path, message()) or ""
    measured = rendered(source, tmp_path, sample("open", 1_700_000_000_000)) or ""
    closed = rendered(source, tmp_path, message("close")) or ""
    lag = rendered(source, tmp_path, message(reason="lag of 9 is above 5")) or ""

    linked = Template("mail", gotpl.Template(source, functions=FUNCTIONS), EXTRAS, "http://w:8000")

    assert linked.render(message()).endswith("\n\nhttp://w:8000/#/group/local/a%26b%20%22c%22\n")
    assert "http" not in opened
    assert "needs attention.\n\nCluster:" in opened
    assert "needs attention.\nThe oldest unread message is 10 min old (10 to 11), 5,500" in measured
    assert opened.startswith('Subject: [Warren] a&b "c" on local is ERR\n\n')
    assert "STOP   orders:3  lag 12345, offset 100 -> 100" in opened
    assert closed.startswith('Subject: [Warren] a&b "c" on local is OK\n\n')
    assert "in good order" in closed
    assert "is ERR: lag of 9 is above 5\n\nlag of 9 is above 5\n" in lag


def test_the_id_has_two_names_as_in_a_template_that_comes_with_burrow(tmp_path: Path) -> None:
    assert rendered('{"ids": ["{{.Id}}", "{{.ID}}"]}', tmp_path, message()) == (
        '{"ids": ["id-1", "id-1"]}'
    )
