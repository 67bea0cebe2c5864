"""Silences: read, add and end them. The pipeline's process keeps them and checks what it is given.

Adding and ending change something, so they need the write token, where there is one.
"""

import msgspec

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
    return await _pass_on(site, ListSilences(query.cluster, query.group))


async def add_silence(site: Site, request: Request) -> Answer:
    return await _pass_on(site, AddSilence(request.body.decode(errors="replace"), _by(request)))


async def end_silence(site: Site, request: Request, number: str) -> Answer:
    return await _pass_on(site, EndSilence(number, _by(request)))


def _by(request: Request) -> Requester:
    return Requester(request.address, request.token)


async def _pass_on(site: Site, action: Action) -> Answer:
    found = msgspec.json.decode(await site.call(action) or "", type=PipelineAnswer)
    facts: dict[str, object] = msgspec.json.decode(found.answer)
    if found.code == 200:
        return site.raw(200, {"board": moment(site.view), **facts})
    wrong = {"error": True, "message": facts["error"]}
    return site.raw(found.code, {"board": moment(site.view), **facts, **wrong})
