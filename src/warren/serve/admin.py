"""Health and readiness, the settings in effect, and the log level."""

import json

import msgspec

from warren.model.health import ClusterHealth, ConsumerHealth, known
from warren.serve.http.answers import TEXT, Answer, Request
from warren.serve.http.channel import GetLevel, SetLevel
from warren.serve.http.site import Site
from warren.serve.v4.groups import board_header
from warren.serve.v4.lines import moment, starting

LEVELS = {
    "debug": "debug",
    "trace": "debug",
    "info": "info",
    "warning": "warn",
    "warn": "warn",
    "error": "error",
    "fatal": "fatal",
}


def good(site: Site, _request: Request) -> Answer:
    return _text(site, 200, "GOOD")


def ready(site: Site, _request: Request) -> Answer:
    """Ready means: the offsets topics have been read to their end.

    A cluster or a consumer that fails later is listed, but the answer stays 200: the others can
    still be served.
    """
    health = site.view.facts.health
    lines = [_cluster_problem(name, each) for name, each in sorted(health.clusters.items())]
    for name, each in sorted(health.consumers.items()):
        lines += [_progress(name, each), _backfill(name, each)]
    status, word = (200, "READY") if health.ready else (503, "STARTING")
    return _text(site, status, "\n".join([word, *filter(None, lines)]))


def _cluster_problem(name: str, cluster: ClusterHealth) -> str:
    silent = cluster.silent_brokers
    if cluster.problem:
        return f"cluster {name}: {cluster.problem}"
    if silent:
        which = ", ".join(map(str, silent))
        return f"cluster {name}: no answer from broker{'s' * (len(silent) > 1)} {which}"
    return ""


def _progress(name: str, consumer: ConsumerHealth) -> str:
    if consumer.problem:
        return f"consumer {name}: {consumer.problem}"
    if consumer.state == "caught up":
        return ""
    text = f"consumer {name}: {consumer.state}"
    if consumer.remaining is not None:
        text += f", {consumer.records or 0} records read, {consumer.remaining} to go"
    seconds_left = known(consumer.seconds_left)
    return text if seconds_left is None else f"{text}, about {seconds_left:.0f} s"


def _backfill(name: str, consumer: ConsumerHealth) -> str:
    if consumer.backfill_partitions_left is None:
        return ""
    text = f"consumer {name}: backfill, {consumer.backfill_partitions_left} partitions to go"
    return f"{text}: {consumer.backfill_problem}" if consumer.backfill_problem else text


def health(site: Site, _request: Request) -> Answer:
    facts = site.view.facts
    answer = {
        "moment_ms": facts.moment_ms,
        "board": moment(site.view),
        "starting": starting(site.view),
        **msgspec.to_builtins(facts.health),
        "problems_since_ms": facts.changes.problems_since_ms,
    }
    return site.raw(200, answer)


def config(site: Site, _request: Request) -> Answer:
    """The keys are sections and nothing else, so the board is in a header."""
    status, headers, body = site.raw(200, site.settings.shown)
    return Answer(status, [*headers, board_header(site.view)], body)


async def get_level(site: Site, request: Request) -> Answer:
    level = await site.call(GetLevel())
    return site.json(request, 200, "log level returned", level=level)


async def set_level(site: Site, request: Request) -> Answer:
    name = _level(request.body)
    if name is None:
        return site.problem(request, 400, "could not decode message body")
    level = LEVELS.get(name.lower())
    if level is None:
        return site.problem(request, 404, "unknown log level")
    await site.call(SetLevel(level))
    return site.json(request, 200, "set log level")


def _level(body: bytes) -> str | None:
    """Lenient as Go: text after the object, other keys and the case of keys are ignored."""
    try:
        found, _ = json.JSONDecoder().raw_decode(body.decode(errors="replace").lstrip())
    except (ValueError, RecursionError):
        return None
    if found is None:
        return ""
    if not isinstance(found, dict):
        return None
    named = [value for key, value in found.items() if key.lower() == "level"]
    level = named[-1] if named else None
    return level if isinstance(level, str) else "" if level is None else None


def _text(site: Site, status: int, text: str) -> Answer:
    return Answer(status, [("content-type", TEXT), *site.cors], text.encode())
