"""What several commands share: options, and how errors are shown.

Nothing heavy is imported here, so that `--help` answers at once.
"""
# ruff: noqa: PLC0415  # see above

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import click

from warren.errors import WarrenError

config_dir_option = click.option(
    "--config-dir",
    "-config-dir",
    "config_dir",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Directory that holds burrow.toml, .json, .yaml or .env; the current one if not given.",
)
config_option = click.option(
    "--config",
    "config_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A configuration file of any name; the ending tells its format.",
)


def one_path(*given: Path | None) -> Path:
    paths = [path for path in given if path is not None]
    if len(paths) > 1:
        raise click.UsageError("the configuration is named twice; name one directory or one file")
    return paths[0] if paths else Path()


HERE = "http://127.0.0.1:8000"  # as with the example configuration

# Which Warren to ask, and how.
remote_options = (
    click.option(
        "--cafile",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Certificates to trust, PEM, with https.",
    ),
    click.option(
        "--token-file",
        metavar="FILE",
        type=click.File(),
        help="File that holds the read-token, if Warren wants one; or set WARREN_TOKEN.",
    ),
    click.option(
        "--url",
        metavar="URL",
        envvar="WARREN_URL",
        show_envvar=True,
        help="The Warren to ask.  [default: http://127.0.0.1:8000]",
    ),
)


def source_options(command: Callable[..., None]) -> Callable[..., None]:
    """Options that name who answers; the command gets them as one `source`."""

    @wraps(command)
    def with_source(**options: Any) -> None:
        names = ("url", "token_file", "cafile", "bootstrap", "config_dir", "config_file")
        chosen = {name: options.pop(name) for name in names}
        command(source=_source(**chosen), **options)

    for option in (
        config_option,
        config_dir_option,
        click.option(
            "--bootstrap", metavar="HOST:PORT", help="Read this cluster itself, without a Warren."
        ),
        *remote_options,
    ):
        with_source = option(with_source)
    return with_source


def _source(  # noqa: PLR0913, PLR0917  # options of a command
    url: str | None,
    token_file: Any,
    cafile: Path | None,
    bootstrap: str | None,
    config_dir: Path | None,
    config_file: Path | None,
) -> Any:
    from warren.terminal.source import AnswerSource

    has_config = config_dir is not None or config_file is not None
    if sum([is_typed(url), bootstrap is not None, has_config]) > 1:
        raise click.UsageError("ask one: --url, --bootstrap, or a configuration")
    return AnswerSource(
        url=url or HERE,
        token=token_of(token_file),
        cafile=cafile,
        bootstrap=bootstrap or "",
        config_path=one_path(config_dir, config_file) if has_config else None,
        environ=tuple(os.environ.items()),
    )


def is_typed(url: str | None) -> bool:
    """Given on the command line: the environment is no choice of the moment."""
    return url is not None and url != os.environ.get("WARREN_URL")


def token_of(file: Any) -> Any:
    """The secret that a Warren wants, from a file or the environment; None if there is none."""
    from warren.config.secrets import Secret

    token = file.read().strip() if file else os.environ.get("WARREN_TOKEN", "")
    return Secret(token) if token else None


@contextmanager
def errors_as_lines() -> Iterator[None]:
    """Show our errors as lines for people, one for each problem, without a stack trace."""
    try:
        yield
    except WarrenError as error:
        for line in str(error).splitlines():
            click.echo(f"warren: {line}", err=True)
        raise click.exceptions.Exit(1) from error
