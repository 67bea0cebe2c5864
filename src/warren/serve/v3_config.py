"""Burrow's view of its configuration: `/v3/config/…`."""

from warren.serve.answers import Answer, Request
from warren.serve.site import Site


def main(site: Site, request: Request) -> Answer:
    return site.json_request_first(request, "main config returned", **site.settings.main)


def cluster(site: Site, request: Request, name: str) -> Answer:
    return module("cluster", site, request, name)


def modules(kind: str, site: Site, request: Request) -> Answer:
    names = sorted(site.settings.modules[kind])
    return site.json_request_first(request, "module list returned", coordinator=kind, modules=names)


def module(kind: str, site: Site, request: Request, name: str) -> Answer:
    found = site.settings.modules[kind].get(name.lower())
    if found is None:
        return site.problem(request, 404, f"{kind} module not found")
    return site.json(request, 200, f"{kind} module detail returned", module=found)
