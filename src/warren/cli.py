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
from warren.model.counted_nouns import counted
from warren.terminal.history_options import history_options, table_options
from warren.terminal.options import config_dir_option, config_option, errors_as_lines, one_path
from warren.terminal.status_options import lag, status, top

if TYPE_CHECKING:
    from collections.abc import Callable

    from warren.history.reader import Past
    from warren.terminal.past_source import PastSource


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
    Look at all groups:             warren status, or warren top
    Download everything beforehand: warren prepare

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
    from warren.process import life

    with life.announced(), errors_as_lines():
        click.echo(f"Reading configuration from {path}", err=True)
        loaded = config.load(path, os.environ)
        from warren.spark.java_process import started_early

        with started_early(loaded.config, master) as java:
            from warren import app  # brings PySpark, for which a wrong configuration need not wait
            from warren.notify.rehearsal import rehearse

            rehearse(loaded)
            app.serve(loaded, master, java)


@main.command(short_help="Check a configuration, print what is in effect.")
@click.argument("path", required=False, type=click.Path(path_type=Path))
@config_dir_option
@config_option
@click.option("--strict", is_flag=True, help="Keys and sections that nobody knows are problems.")
@click.option("--changed", is_flag=True, help="Print only settings that differ from the default.")
@click.option("--explain-policy", "group", metavar="GROUP", help="Print which policy holds for it.")
@click.option("--topic", "topics", multiple=True, help="With --explain-policy: only these topics.")
def check_config(  # noqa: PLR0913  # an argument for each option
    path: Path | None,
    config_dir: Path | None,
    config_file: Path | None,
    *,
    strict: bool,
    changed: bool,
    group: str | None,
    topics: tuple[str, ...],
) -> None:
    """Check a configuration and print what would be in effect.

    PATH is a directory or a file. Every setting is printed with its origin: default, file or
    environment variable; secrets are masked. All problems are listed at once, with exit code 1. A
    key that Warren does not know is a warning, as it is to serve; with --strict it is a problem.
    The last line, on stderr, is "OK" with the number of warnings.
    With --explain-policy, print only which policy holds for each topic of a group, and why.

    \b
    Examples:
      warren check-config
      warren check-config /etc/burrow
      warren check-config --strict staging.yaml
      warren check-config --changed /etc/burrow
      warren check-config --explain-policy billing --topic orders
    """
    path = one_path(path, config_dir, config_file)
    from warren import config
    from warren.notify.rehearsal import rehearse

    with errors_as_lines():
        loaded = config.load(path, os.environ)
        warnings = [*loaded.warnings, *([] if strict else loaded.unknown)]
        for warning in warnings:
            click.echo(f"warning: {warning}", err=True)
        if strict and loaded.unknown:
            raise ConfigError(loaded.path, loaded.unknown)
        rehearse(loaded)
        if group is None:
            click.echo(config.render_effective(loaded, changed=changed))
            click.echo(f"OK, {counted(len(warnings), 'warning')}", err=True)
        else:
            click.echo(config.explain_policy(loaded.config, group, topics))


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
    past: "Callable[[], PastSource]", group: str, form: str, sections: tuple[str, ...], top: int
) -> None:
    """Tell from history how groups fared: the worst, time in each status, lag, incidents, topics.

    Asks a running Warren (--url), or reads history where it is (--config-dir, --directory), while
    Warren goes on writing to it or not. For more than some million rows, or on another machine's
    disk, Spark is started for the latter, which takes ten seconds or more.
    Percentiles are of the total lag over the moments that were kept.

    \b
    Examples:
      warren report --url http://warren.example.com:8000
      warren report --config-dir /etc/burrow
      warren report --directory /var/lib/warren/history --since 7d --cluster eu
      warren report --since 2026-11-01 --until 2026-11-08 --format html > week.html
      warren report --format csv --section incidents > incidents.csv
    """
    from warren.terminal import report_command as run

    with errors_as_lines():
        run.report(past, group, form, sections, top)


@main.command(short_help="Tell what other policies would have paged.")
@table_options
@click.option(
    "--policy",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The policies to try; without it, those of the configuration.",
)
@click.option("--group", metavar="NAME", default="", help="Only this group.")
@click.option(
    "--evaluator",
    type=click.Choice(["caching", "warren"]),
    default=None,
    help="Whose verdicts page: Burrow's rules or Warren's; the configured one if not given.",
)
@click.option("--json", "is_json", is_flag=True, help="As JSON, with every page.")
@click.option(
    "--html",
    "page",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write a page with plots, too; it needs nothing else.",
)
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(min=1, max=100_000),
    default=20,
    show_default=True,
    help="Lines of the table.",
)
def backtest(  # noqa: PLR0913  an argument for each option
    past: "Callable[[], Past]",
    *,
    policy: Path | None,
    group: str,
    evaluator: str | None,
    page: Path | None,
    top: int,
    is_json: bool,
) -> None:
    """Tell what would have paged under other policies, when and for how long, against what did.

    Every verdict that history holds is made again under the policies of FILE, by the rules that
    serve uses. Then incidents open and close again, with silences and notifiers. FILE has
    [policy.NAME] sections and may be a whole configuration: its silences, notifiers and evaluator
    count too, if it has any. Nothing is sent, and nothing of the running Warren changes.

    What did page is told by the configuration at hand. Without --policy and --evaluator both sides
    are the same, which shows that the replay can be trusted.

    \b
    Example, new.toml:
      [policy.payments]
      groups = ["billing.*"]
      max-time-lag = "5m"
      grace = "2m"
    \b
      warren backtest --policy new.toml --since 7d --config-dir /etc/burrow
      warren backtest --policy new.toml --since 7d --group billing --html week.html
      warren backtest --evaluator warren --since 2026-11-01 --until 2026-11-08 --json

    Spark is started, which takes ten seconds or more. Exit codes: 0 replayed; 1 it was not, with a
    line for each reason on stderr.
    """
    with errors_as_lines():
        from warren.terminal import backtest_command as run

        wanted = run.Wanted(policy, group, evaluator or "", page, top, is_json)
        run.backtest(past, wanted)


@main.command(short_help="Plot one group over time.")
@click.argument("group")
@history_options
@click.option("--topic", metavar="NAME", default="", help="Only this topic of the group.")
@click.option(
    "--partition", metavar="N", type=click.IntRange(min=0), help="Only this partition of --topic."
)
@click.option("--json", "as_json", is_flag=True, help="As JSON, as /v4/history tells it.")
def history(
    past: "Callable[[], PastSource]",
    group: str,
    topic: str,
    partition: int | None,
    *,
    as_json: bool,
) -> None:
    """Plot the lag of GROUP over time, with its status and its incidents.

    Asks a running Warren (--url), or reads history where it is (--config-dir, --directory).

    \b
    Examples:
      warren history billing --url http://warren.example.com:8000
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


@main.command(short_help="Download and make what a first start needs.")
@click.option(
    "--demo/--no-demo",
    "with_demo",
    default=True,
    help="With or without the Kafka broker of the demo; it is there by default.",
)
def prepare(*, with_demo: bool) -> None:
    """Download and make everything that a first start would, for images and before a journey.

    These are the jars of Spark's Kafka connector, of Delta and of the demo's broker, and class
    archives, with which Java starts faster. All lie in ~/.cache/warren, or in
    $XDG_CACHE_HOME/warren; what is there already stays. Without prepare, serve and demo download
    the jars at their first start and make the archives while they run.

    An archive fits the Java and the jars it was made with, at the same paths: run prepare again
    after an update of either. On another machine, copied jars work and copied archives may not.

    \b
    Examples:
      warren prepare
      warren prepare --no-demo
      XDG_CACHE_HOME=/opt/warren/cache warren prepare --no-demo

    Exit codes: 0 all is there; 1 it is not, with the reason on stderr, or stopped by a signal.
    """
    from warren.prepare import prepare as run

    with errors_as_lines():
        raise click.exceptions.Exit(run(demo=with_demo))


for command in (demo, status, lag, top):
    main.add_command(command)
