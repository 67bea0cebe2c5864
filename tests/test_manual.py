"""The man page: written from the help of every command, and as roff reads it."""

import re
from pathlib import Path

from warren import manual
from warren.cli import main

PAGE = Path(__file__).parents[1] / "docs" / "warren.1"
REQUESTS = {"TH", "SH", "SS", "PP", "TP", "nf", "fi"}


def test_the_page_is_what_the_help_says() -> None:
    assert PAGE.read_text() == manual.page(), "python -m warren.manual > docs/warren.1"


def test_every_command_and_option_is_in_it() -> None:
    text = PAGE.read_text().replace("\\-", "-")

    options = {
        name
        for command in main.commands.values()
        for parameter in command.params
        for name in parameter.opts
        if name.startswith("--")
    }
    assert [name for name in main.commands if f'.SS "warren {name} ' not in text] == []
    assert [name for name in options if f"{name}" not in text] == []


def test_roff_takes_nothing_of_the_text_for_a_request() -> None:
    lines = PAGE.read_text().splitlines()
    requests = {line[1:].split()[0] for line in lines if line.startswith((".", "'"))}

    assert requests == REQUESTS
    assert set(re.findall(r"\\(.)", "".join(lines))) <= set("-fe(&")
    assert manual._escaped(".so /etc/passwd") == "\\&.so /etc/passwd"  # noqa: SLF001  # no help begins so today
