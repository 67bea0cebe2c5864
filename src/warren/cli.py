"""The `warren` command: each parses, calls one function, and turns our errors into exit code 1.

What a command needs is imported inside it, so that `--help` answers at once.
"""
# ruff: noqa: PLC0415  # see above
# ruff: noqa: D301  # click takes the character \b as "keep these lines as they are"

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

import warren
from warren.demo.command import demo
from warren.errors import ConfigError
from warren.terminal.history_options import history_options
from warren.terminal.options import config_dir_option, config_option, errors_as_lines, one_path
from warren.terminal.status_options import lag, status

if TYPE_CHECKING:
    from collections.abc import Callable

    from warren.history.reader import Past


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
    Look at all groups:             warren status

    Burrow's own command line works too: "warren --config-dir DIR" serves, and so does "warren"
    alone in a directory that holds a configuration.

    Exit codes: 0 all is well, or stopped by a signal; 1 the configuration or the start failed,
    with a line for each problem on stderr; 2 wrong usage.
    """


@main.command(short_help="Monitor the clusters of a configuration.")
@config_dir_option
@config_option
@click.option(
    "--master",
    metavar="URL",
    help="Where Spark runs, above the configuration's: local[2], spark://host:7077, yarn, k8s://...",
)
def serve(config_dir: Path | None, config_file: Path | None, master: str | None) -> None:
    """Monitor the clusters of a configuration until a signal comes.

    Ctrl-C, SIGTERM, SIGQUIT and SIGHUP stop it cleanly; a second Ctrl-C leaves at once. Keys that
    Warren does not know are warnings in the log.

    \b
    Examples:
      warren serve --config-dir /etc/burrow
      warren serve --config staging.yaml
      warren serve --master spark://spark-1:7077
      BURROW_LOGGING_LEVEL=debug warren serve
    """
    path = one_path(config_dir, config_file)
    from warren import config
    from warren.notify.rehearsal import rehearse
    from warren.process import life

    with life.announced(), errors_as_lines():
        click.echo(f"Reading configuration from {path}", err=True)
        loaded = config.load(path, os.environ)
        rehearse(loaded)
        from warren import app  # brings Spark, which a wrong configuration should not wait for

        app.serve(loaded, master)


@main.command(short_help="Check a configuration, print what is in effect.")
@click.argument("path", required=False, type=click.Path(path_type=Path))
@config_dir_option
@config_option
@click.option("--strict", is_flag=True, help="Keys and sections that nobody knows are problems.")
def check_config(
    path: Path | None, config_dir: Path | None, config_file: Path | None, *, strict: bool
) -> None:
    """Check a configuration and print what would be in effect.

    PATH is a directory or a file. Every setting is printed with its origin: default, file or
    environment variable; secrets are masked. All problems are listed at once, with exit code 1. A
    key that Warren does not know is a warning, as it is to serve; with --strict it is a problem.

    \b
    Examples:
      warren check-config
      warren check-config /etc/burrow
      warren check-config --strict staging.yaml
    """
    path = one_path(path, config_dir, config_file)
    from warren import config
    from warren.notify.rehearsal import rehearse

    with errors_as_lines():
        loaded = config.load(path, os.environ)
        for warning in (*loaded.warnings, *([] if strict else loaded.unknown)):
            click.echo(f"warning: {warning}", err=True)
        if strict and loaded.unknown:
            raise ConfigError(loaded.path, loaded.unknown)
        rehearse(loaded)
        click.echo(config.render_effective(loaded))


@main.command(short_help="Send a sample through a notifier.")
@click.argument("name")
@config_dir_option
@config_option
def notify_test(name: str, config_dir: Path | None, config_file: Path | None) -> None:
    """Send a made-up incident through the notifier NAME and print what its receiver answers.

    One message as for a group that became bad, and one as for a group that is good again if the
    notifier sends those (send-close). The group is called sample-group. Nothing else is touched:
    no cluster is read, and a running Warren does not notice.

    \b
    Examples:
      warren notify-test oncall
      warren notify-test oncall --config-dir /etc/burrow

    Exit codes: 0 the receiver took it; 1 it did not, with the reason on stderr.
    """
    path = one_path(config_dir, config_file)
    from warren import config
    from warren.notify.rehearsal import try_notifier

    with errors_as_lines():
        try_notifier(config.load(path, os.environ).config, name, click.echo)


@main.command(short_help="Tell how groups fared over a time.")
@history_options
@click.option("--group", metavar="NAME", default="", help="Only this group.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json", "html"]),
    default="table",
    show_default=True,
    help="html is one page with plots that needs nothing else; csv is one section.",
)
@click.option(
    "--section",
    "sections",
    type=click.Choice(["clusters", "groups", "incidents", "topics"]),
    multiple=True,
    help="Only this one; may be given several times. csv has groups if none is given.",
)
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(min=1, max=100_000),
    default=20,
    show_default=True,
    help="Lines of each section.",
)
def report(
    past: "Callable[[], Past]", group: str, form: str, sections: tuple[str, ...], top: int
) -> None:
    """Tell from history how groups fared: the worst, time in each status, lag, incidents, topics.

    History is read where it is, while Warren goes on writing to it or not. For more than some
    million rows, or on another machine's disk, Spark is started, which takes ten seconds or more.
    Percentiles are of the total lag over the moments that were kept.

    \b
    Examples:
      warren report --config-dir /etc/burrow
      warren report --directory /var/lib/warren/history --since 7d --cluster eu
      warren report --since 2026-11-01 --until 2026-11-08 --format html > week.html
      warren report --format csv --section incidents > incidents.csv
    """
    from warren.terminal import report_command as run

    with errors_as_lines():
        run.report(past, group, form, sections, top)


@main.command(short_help="Plot one group over time.")
@click.argument("group")
@history_options
@click.option("--topic", metavar="NAME", default="", help="Only this topic of the group.")
@click.option(
    "--partition", metavar="N", type=click.IntRange(min=0), help="Only this partition of --topic."
)
@click.option("--json", "as_json", is_flag=True, help="As JSON, as /v4/history tells it.")
def history(
    past: "Callable[[], Past]", group: str, topic: str, partition: int | None, *, as_json: bool
) -> None:
    """Plot the lag of GROUP over time, with its status and its incidents.

    \b
    Examples:
      warren history billing --config-dir /etc/burrow
      warren history billing --directory /var/lib/warren/history --since 7d
      warren history billing --since 2026-11-01T12:00 --until 2026-11-01T18:00
      warren history billing --topic orders --partition 3 --since 2h
    """
    if partition is not None and not topic:
        raise click.UsageError("--partition needs --topic")
    from warren.terminal import history_command

    with errors_as_lines():
        history_command.history(past, group, topic, partition, as_json=as_json)


for command in (demo, status, lag):
    main.add_command(command)
