"""Users' own Go templates: read once, rendered for every message."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import gotpl

from warren.config import Notifier
from warren.errors import TemplateFailed
from warren.notify.message import Event, Message
from warren.notify.templates.go_functions import FUNCTIONS
from warren.notify.templates.template_data import template_data

# Stops a template that calls itself forever.
_BUDGET = gotpl.ExecutionBudget(max_template_depth=100, max_output_chars=50_000_000)


@dataclass(frozen=True)
class Template:
    where: str  # the file, or the key that holds it
    compiled: gotpl.Template
    extras: Mapping[str, str]
    page: str = ""  # the URL of Warren's page; empty if unknown

    def render(self, message: Message) -> str:
        try:
            return self.compiled.render(template_data(message, self.extras, self.page))
        except gotpl.TemplateExecutionError as error:
            where = f"{self.where}:{error.line}" if error.line else self.where
            raise TemplateFailed(where, error.message) from error


def of_files(notifier: Notifier, page: str = "") -> Mapping[Event, Template]:
    """The templates of a notifier's messages that are configured and used."""
    files: dict[Event, str] = {"open": notifier.template_open}
    if notifier.send_close:
        files["close"] = notifier.template_close
    return {
        event: replace(_compile(file, _read(file), notifier, helpers=True), page=page)
        for event, file in files.items()
        if file
    }


def of_url(notifier: Notifier, key: str, url: str) -> Template:
    """The template of a URL, without Burrow's helper functions."""
    return _compile(f"notifier.{notifier.name}.{key}", url, notifier, helpers=False)


def _read(file: str) -> str:
    try:
        return Path(file).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise TemplateFailed(file, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TemplateFailed(file, "is not UTF-8 text") from error


def _compile(where: str, source: str, notifier: Notifier, *, helpers: bool) -> Template:
    functions = FUNCTIONS if helpers else {}
    try:
        compiled = gotpl.Template(source, functions=functions, budget=_BUDGET)
    except gotpl.TemplateSyntaxError as error:
        problem = str(error).split(": ", 1)[-1]
        raise TemplateFailed(f"{where}:{error.line}", problem) from error
    return Template(where, compiled, notifier.extras)
