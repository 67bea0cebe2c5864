"""The `warren` command: each parses, calls one function, and turns our errors into exit code 1.

What a command needs is imported inside it, so that `--help` answers at once.
"""
# ruff: noqa: PLC0415  # see above
# ruff: noqa: D301  # click takes the character \b as "keep these lines as they are"

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

import warren
from warren.errors import ConfigError, WarrenError


class CommandOrServe(click.Group):
    """Burrow has no commands: its start scripts give `--config-dir DIR`, or nothing."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own_options = {"--help", "-h", "--version"}
        if args:
            means_serve = args[0].startswith("-") and args[0] not in own_options
        else:
            means_serve = any(Path().glob("burrow.*"))
        return super().parse_args(ctx, ["serve", *args] if means_serve else args)


@click.group(cls=CommandOrServe, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(warren.__version__, prog_name="warren", message="%(prog)s %(version)s")
def main() -> None:
    """Warren judges Kafka consumer groups without thresholds, as Burrow does.

    It reads Burrow's configuration: a directory with a file burrow.toml (or .json, .yaml, .env).

    \b
    See it work, no Kafka needed:   warren demo
    Check a configuration:          warren check-config /etc/burrow
    Monitor your clusters:          warren serve --config-dir /etc/burrow

    Burrow's own command line works too: "warren --config-dir DIR" serves, and so does "warren"
    alone in a directory that holds a configuration.

    Exit codes: 0 all is well, or stopped by a signal; 1 the configuration or the start failed,
    with a line for each problem on stderr; 2 wrong usage.
    """


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


@main.command(short_help="Monitor the clusters of a configuration.")
@config_dir_option
@config_option
def serve(config_dir: Path | None, config_file: Path | None) -> None:
    """Monitor the clusters of a configuration until a signal comes.

    Ctrl-C, SIGTERM, SIGQUIT and SIGHUP stop it cleanly; a second Ctrl-C leaves at once. Keys that
    Warren does not know are warnings in the log.

    \b
    Examples:
      warren serve --config-dir /etc/burrow
      warren serve --config staging.yaml
      BURROW_LOGGING_LEVEL=debug warren serve
    """
    path = one_path(config_dir, config_file)
    from warren import config
    from warren.process import life

    with life.announced(), reported():
        click.echo(f"Reading configuration from {path}", err=True)
        loaded = config.load(path, os.environ)
        from warren import app  # brings Spark, which a wrong configuration should not wait for

        app.serve(loaded)


@main.command(short_help="Check a configuration, print what is in effect.")
@click.argument("path", required=False, type=click.Path(path_type=Path))
@config_dir_option
@config_option
def check_config(path: Path | None, config_dir: Path | None, config_file: Path | None) -> None:
    """Check a configuration and print what would be in effect.

    PATH is a directory or a file. Every setting is printed with its origin: default, file or
    environment variable; secrets are masked. All problems are listed at once, and a key that
    Warren does not know is one of them.

    \b
    Examples:
      warren check-config
      warren check-config /etc/burrow
      warren check-config staging.yaml
    """
    path = one_path(path, config_dir, config_file)
    from warren import config

    with reported():
        loaded = config.load(path, os.environ)
        for warning in loaded.warnings:
            click.echo(f"warning: {warning}", err=True)
        if loaded.unknown:
            raise ConfigError(loaded.path, loaded.unknown)
        click.echo(config.render_effective(loaded))


@main.command(short_help="See it work with a broker of its own.")
@click.option(
    "--for",
    "seconds",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    help="Stop by itself after so many seconds; otherwise Ctrl-C stops it.",
)
@click.option("--keep", is_flag=True, help="Leave the demo's directory in place afterwards.")
def demo(seconds: float | None, *, keep: bool) -> None:
    """Start a Kafka broker on this machine, consumer groups in it, and Warren to judge them.

    \b
    Examples:
      warren demo
      warren demo --for 60
    """
    from warren.demo.run import run

    with reported():
        run(seconds, keep=keep)


def one_path(*given: Path | None) -> Path:
    paths = [path for path in given if path is not None]
    if len(paths) > 1:
        raise click.UsageError("the configuration is named twice; name one directory or one file")
    return paths[0] if paths else Path()


@contextmanager
def reported() -> Iterator[None]:
    """Our errors are lines for people, one for each problem, and no stack trace."""
    try:
        yield
    except WarrenError as error:
        for line in str(error).splitlines():
            click.echo(f"warren: {line}", err=True)
        raise click.exceptions.Exit(1) from error
