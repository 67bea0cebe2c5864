"""Options that say which part of which history a command is about; light, as `options` is."""
# ruff: noqa: PLC0415  # see above

import os
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from warren.errors import WarrenError
from warren.terminal.options import config_dir_option, config_option, one_path


class WrongTime(WarrenError):
    """A period that cannot be meant."""


def history_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command gets them as one `past`, made when it is called."""

    @wraps(command)
    def with_past(**options: Any) -> None:
        names = ("directory", "since", "until", "cluster", "config_dir", "config_file")
        chosen = {name: options.pop(name) for name in names}
        command(past=lambda: _past(**chosen), **options)

    for option in (
        config_option,
        config_dir_option,
        click.option(
            "--directory",
            metavar="URL",
            help="Where history is, if no configuration is at hand to say it.",
        ),
        click.option("--cluster", metavar="NAME", default="", help="Only this cluster."),
        click.option(
            "--until", metavar="TIME", default="", help="The same; now if it is not given."
        ),
        click.option(
            "--since",
            metavar="TIME",
            default="24h",
            show_default=True,
            help="So long ago (90m, 24h, 7d), or a date or time (2026-11-01T12:30, UTC).",
        ),
    ):
        with_past = option(with_past)
    return with_past


def _past(  # noqa: PLR0913, PLR0917  # options of a command
    directory: str | None,
    since: str,
    until: str,
    cluster: str,
    config_dir: Path | None,
    config_file: Path | None,
) -> Any:
    from warren import config
    from warren.history.reader import Past
    from warren.model.period import between

    try:
        period = between(since, until, int(time.time() * 1000))
    except ValueError as error:
        raise WrongTime(str(error)) from error
    if directory and "://" not in directory:  # Spark stands elsewhere
        directory = str(Path(directory).absolute())
    if directory and config_dir is None and config_file is None:
        return Past(directory, period, cluster)
    loaded = config.load(one_path(config_dir, config_file), os.environ).config
    return Past(directory or loaded.history_directory, period, cluster, loaded.spark)
