"""What a sink's keys say together."""

from collections.abc import Mapping

from warren.config.findings import Findings
from warren.config.secrets import shown
from warren.config.sections import Tls
from warren.config.sinks import ElasticsearchSink, FilesSink, HttpSink, InfluxdbSink, Sink


def check_sink(sink: Sink, tls: Mapping[str, Tls], findings: Findings) -> None:
    path = f"sink.{sink.name}"
    match sink:
        case InfluxdbSink():
            _check_influxdb(path, sink, findings)
        case ElasticsearchSink():
            _check_login(path, sink, "api-key" if sink.api_key else "", findings)
        case FilesSink() if not sink.directory:
            findings.refuse(f"{path}.directory", "is empty; must be a directory or a URL")
    if isinstance(sink, HttpSink) and sink.tls and sink.tls not in tls:
        allowed = ", ".join(sorted(tls)) or "none, as there is no [tls.NAME] section"
        problem = f"names no tls section; must be one of: {allowed}"
        findings.refuse_value(f"{path}.tls", shown(sink.tls), problem)


def _check_influxdb(path: str, sink: InfluxdbSink, findings: Findings) -> None:
    if not sink.database and not sink.bucket:
        text = "missing; name a database (InfluxDB 1.x) or a bucket (InfluxDB 2 and 3)"
        findings.refuse(f"{path}.database", text)
    if sink.database and sink.bucket:
        text = "there is a database as well; one is InfluxDB 1.x, the other 2 and 3"
        findings.refuse(f"{path}.bucket", text)
    if sink.bucket and sink.username:
        text = "a bucket is written to with a token; leave the user out"
        findings.refuse(f"{path}.username", text)
    if sink.database and sink.org:
        findings.refuse(f"{path}.org", "is for a bucket; a database has no organisation")
    _check_login(path, sink, "token" if sink.token else "", findings)


def _check_login(path: str, sink: HttpSink, instead: str, findings: Findings) -> None:
    if instead and (sink.username or sink.password):
        findings.refuse(f"{path}.{instead}", "there is a user as well; log in with one of them")
    if sink.password and not sink.username:
        findings.refuse(f"{path}.username", "missing; there is a password")
