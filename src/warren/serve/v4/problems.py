"""Why there is no answer."""

from warren.serve.answers import Answer
from warren.serve.site import Site
from warren.serve.v4.lines import moment
from warren.serve.v4.shapes import Problem


def problem(site: Site, code: int, message: str) -> Answer:
    return site.raw(code, Problem(moment(site.view), error=True, message=message))
