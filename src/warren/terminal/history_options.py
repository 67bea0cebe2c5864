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
from warren.terminal import options
from warren.terminal.options import (
    config_dir_option,
    config_option,
    is_typed,
    one_path,
    remote_options,
    token_of,
)


class WrongTime(WarrenError):
    """A period that cannot be meant."""


LOCAL_OPTIONS = (
    config_option,
    config_dir_option,
    click.option(
        "--directory",
        metavar="URL",
        help="Where history is, if no configuration is at hand to say it.",
    ),
    click.option("--cluster", metavar="NAME", default="", help="Only this cluster."),
    click.option("--until", metavar="TIME", default="", help="The same; now if it is not given."),
    click.option(
        "--since",
        metavar="TIME",
        default="24h",
        show_default=True,
        help="So long ago (90m, 24h, 7d), or a date or time (2026-11-01T12:30, UTC).",
    ),
)


def history_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command gets them as one `past`, made when it is called."""

    @wraps(command)
    def with_past(**options: Any) -> None:
        names = ("directory", "since", "until", "cluster", "config_dir", "config_file")
        chosen = {name: options.pop(name) for name in (*names, "url", "token_file", "cafile")}
        command(past=lambda: _past(**chosen), **options)

    for option in (*remote_options, *LOCAL_OPTIONS):
        with_past = option(with_past)
    return with_past


def table_options(command: Callable[..., None]) -> Callable[..., None]:
    """The same, of a command that reads the table itself."""

    @wraps(command)
    def with_past(**options: Any) -> None:
        names = ("directory", "since", "until", "cluster", "config_dir", "config_file")
        chosen = {name: options.pop(name) for name in names}
        command(past=lambda: _table(**chosen), **options)

    for option in LOCAL_OPTIONS:
        with_past = option(with_past)
    return with_past


def _past(  # noqa: PLR0913, PLR0917  # options of a command
    directory: str | None,
    since: str,
    until: str,
    cluster: str,
    config_dir: Path | None,
    config_file: Path | None,
    url: str | None,
    token_file: Any,
    cafile: Path | None,
) -> Any:
    is_local = bool(directory) or config_dir is not None or config_file is not None
    if is_typed(url) and is_local:
        raise click.UsageError("ask one: --url, or a configuration or directory")
    if not is_local and not url and not any(Path().glob("burrow.*")):
        url = options.HERE
    if url and not is_local:
        from warren.terminal.past_source import RemotePast
        from warren.terminal.remote import Remote

        remote = Remote(url, token_of(token_file), cafile)
        return RemotePast(remote, since, until, cluster)
    from warren.terminal.past_source import TablePast

    return TablePast(_table(directory, since, until, cluster, config_dir, config_file))


def _table(  # noqa: PLR0913, PLR0917  # options of a command
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
    place = directory or loaded.history_directory
    return Past(place, period, cluster, loaded.spark, loaded)
