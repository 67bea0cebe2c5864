"""Writes the man page from the help of every command, so that the two always agree.

python -m warren.manual > docs/warren.1
"""

import inspect
import re
import sys
from collections.abc import Iterator

import click

import warren
from warren.cli import main

KEPT = "\b"  # before a paragraph whose lines click keeps as they are
ENVIRONMENT = {
    "WARREN_URL": "The Warren that status, lag, top, history and report ask.",
    "WARREN_TOKEN": "Its read-token, if it wants one.",
    "NO_COLOR": "If set, no colours.",
    "BURROW_...": "Settings above those of the file, such as BURROW_STORAGE_DEFAULT_INTERVALS=15.",
    "WARREN_JARS": "Directory with the jars, for a machine without a network.",
    "WARREN_IVY_SETTINGS": "Ivy's settings, to download the jars from elsewhere.",
    "XDG_CACHE_HOME": "Where the cache of jars and class archives is, instead of ~/.cache.",
}


def page() -> str:
    return "\n".join(_page()) + "\n"


def _page() -> Iterator[str]:
    top = click.Context(main, info_name="warren", **main.context_settings)
    first, *rest = _paragraphs(main)
    yield f'.TH WARREN 1 "" "warren {warren.__version__}" "User Commands"'
    about = first.rstrip(".").removeprefix("Warren ")
    yield from (".SH NAME", f"warren {_escaped('- ' + about)}")
    yield from (".SH SYNOPSIS", _bold(_usage(top)))
    yield ".SH DESCRIPTION"
    yield from _text(rest)
    yield from (".SH OPTIONS", *_options(main, top))
    yield from (".TP", _bold("-h, --help"), "Show the help of warren, or of a command.")
    yield ".SH COMMANDS"
    for name in main.list_commands(top):
        command = main.get_command(top, name)
        if command is not None:
            yield from _command(command, click.Context(command, parent=top, info_name=name))
    yield ".SH ENVIRONMENT"
    for variable, about in ENVIRONMENT.items():
        yield from (".TP", _bold(variable), _escaped(about))


def _command(command: click.Command, ctx: click.Context) -> Iterator[str]:
    yield f'.SS "{_escaped(_usage(ctx))}"'
    yield from _text(_paragraphs(command))
    yield from _options(command, ctx)


def _usage(ctx: click.Context) -> str:
    return " ".join([ctx.command_path, *ctx.command.collect_usage_pieces(ctx)])


def _paragraphs(command: click.Command) -> list[str]:
    return inspect.cleandoc(command.help or "").split("\n\n")


def _text(paragraphs: list[str]) -> Iterator[str]:
    for paragraph in paragraphs:
        yield ".PP"
        if paragraph.startswith(KEPT):
            yield from (".nf", *map(_escaped, paragraph.removeprefix(KEPT).strip("\n").split("\n")))
            yield ".fi"
        else:
            yield _escaped(" ".join(paragraph.split()))


def _options(command: click.Command, ctx: click.Context) -> Iterator[str]:
    for parameter in command.params:  # --help is told of once, for all commands
        if record := parameter.get_help_record(ctx):
            names, about = record
            if about:  # an argument is told of in the text
                yield from (".TP", _bold(names), _escaped(" ".join(about.split())))


def _bold(text: str) -> str:
    return f"\\fB{_escaped(text)}\\fR"


def _escaped(text: str) -> str:
    """What roff would take for a command stays a text, and a hyphen one that can be copied."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    return re.sub(r"^([.'])", r"\\&\1", text)


if __name__ == "__main__":
    sys.stdout.write(page())
