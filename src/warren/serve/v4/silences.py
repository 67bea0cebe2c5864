"""Silences: read, add and end them. The pipeline's process keeps them and checks what it is given.

Adding and ending need the token for silences, or the one for all changes, where there are such.
"""

import asyncio
import time
from typing import Any

import msgspec

from warren.model.silence import Silence, Silences
from warren.serve.board_file.board_view import View
from warren.serve.http.answers import Answer, Request
from warren.serve.http.channel import Action, AddSilence, EndSilence, ListSilences, Requester
from warren.serve.http.site import Site
from warren.serve.v4.lines import moment
from warren.serve.v4.parameters import SomeSilences, parse, problem
from warren.serve.v4.shapes import PipelineAnswer

PATH = "/v4/silences"


async def list_silences(site: Site, request: Request) -> Answer:
    query = parse(request.query, SomeSilences)
    if not isinstance(query, SomeSilences):
        return problem(site, 400, query if isinstance(query, str) else "")
    code, facts = await _ask(site, ListSilences(query.cluster, query.group))
    if query.groups and code == 200:
        holding = [each for each in facts["silences"] if each["holds"]]
        silences = msgspec.convert(holding, list[Silence])
        facts["groups"] = await asyncio.to_thread(silenced, site.view, silences, time.time())
    return _answer(site, code, facts)


def silenced(view: View, silences: list[Silence], now_s: float) -> list[dict[str, str]]:
    """The groups of which nobody is notified now, each with the first silence that holds.

    Whom policies name as an owner is not known here.
    """
    found = []
    for name, cluster in sorted(view.clusters.items()):
        of_cluster = Silences(silences, name, now_s)
        for group in cluster.groups.names if of_cluster else ():
            silence = of_cluster.of(group, owner="")
            if silence is not None:
                found.append({"cluster": name, "group": group, "silence": silence.id})
    return found


async def add_silence(site: Site, request: Request) -> Answer:
    asked = AddSilence(request.body.decode(errors="replace"), _by(request))
    return _answer(site, *await _ask(site, asked))


async def end_silence(site: Site, request: Request, number: str) -> Answer:
    return _answer(site, *await _ask(site, EndSilence(number, _by(request))))


def _by(request: Request) -> Requester:
    return Requester(request.address, request.token)


async def _ask(site: Site, action: Action) -> tuple[int, dict[str, Any]]:
    found = msgspec.json.decode(await site.call(action) or "", type=PipelineAnswer)
    return found.code, msgspec.json.decode(found.answer)


def _answer(site: Site, code: int, facts: dict[str, Any]) -> Answer:
    wrong = {} if code == 200 else {"error": True, "message": facts["error"]}
    return site.raw(code, {"board": moment(site.view), **facts, **wrong})
