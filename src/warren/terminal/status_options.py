"""The command lines of `warren status` and `warren lag`."""
# ruff: noqa: PLC0415  # what a command needs is imported inside it, so that `--help` answers at once
# ruff: noqa: D301  # click takes the character \b as "keep these lines as they are"

from typing import TYPE_CHECKING

import click

from warren.terminal.options import errors_as_lines, source_options

if TYPE_CHECKING:
    from warren.terminal.source import AnswerSource

# The orders of `group_choice`, which imports too much for this module.
ORDERS = ("trouble", "name", "behind", "lag", "age")
SORTS = (*ORDERS, *(f"-{each}" for each in ORDERS))


@click.command(short_help="Show all groups as a table.")
@source_options
@click.option("--cluster", metavar="NAME", default="", help="Only groups of this cluster.")
@click.option("--match", metavar="TEXT", default="", help="Only groups with this in their name.")
@click.option("--bad", is_flag=True, help="Only groups that are not OK.")
@click.option(
    "--sort",
    metavar="ORDER",
    type=click.Choice(SORTS),
    help="trouble, name, behind, lag, or age of the last commit; -lag and so on reverse it.  "
    "[default: trouble; name with --json]",
)
@click.option("--watch", is_flag=True, help="Show it again and again, until Ctrl-C.")
@click.option(
    "--every",
    metavar="SECONDS",
    type=click.FloatRange(min=0.1),
    default=2.0,
    help="How often, with --watch.  [default: 2]",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON; with --watch a line each time.")
def status(  # noqa: PLR0913  # options of a command
    source: "AnswerSource",
    cluster: str,
    match: str,
    sort: str | None,
    every: float,
    *,
    bad: bool,
    watch: bool,
    as_json: bool,
) -> None:
    """Show all groups, the worst first: status, how far behind, lag, trend.

    A wider terminal shows more columns.

    Asks a running Warren (--url), or reads a cluster itself (--bootstrap, --config-dir), which
    takes Spark some ten seconds to start. It works with a Burrow too. Read that way, the lag at
    past commits is unknown: a group that falls behind is OK at first; stopped, stalled and rewound
    ones are seen at once.

    --json prints what /v4/groups answers, with all groups on one page.

    \b
    Exit codes: 0 all groups are OK, 3 some are WARN, 4 some are ERR; 1 nobody answers, or no
    group has such a name (--match, --cluster).

    \b
    Examples:
      warren status
      warren status --url http://warren.example.com:8000 --bad
      warren status --sort behind --match billing
      warren status --bootstrap broker-1:9092
      warren status --config-dir /etc/burrow --watch
      warren status --json | jq -r '.groups[] | select(.status != "OK") | .group'
    """
    from warren.terminal import status_command
    from warren.terminal.group_choice import Filter

    with errors_as_lines():
        wanted = Filter(cluster, match, bad, sort or ("name" if as_json else "trouble"))
        code = status_command.status(
            source, wanted, as_json=as_json, every_s=every if watch else None
        )
        raise click.exceptions.Exit(code)


@click.command(short_help="Show all groups live, on the whole screen.")
@source_options
@click.option(
    "--every",
    metavar="SECONDS",
    type=click.FloatRange(min=0.1),
    default=2.0,
    help="How often to ask.  [default: 2]",
)
def top(source: "AnswerSource", every: float) -> None:
    """Show all groups live, on the whole screen, and one group with all its partitions.

    \b
    /                  search groups by name, topic or owner; Enter ends typing
    up, down, PgUp, PgDn, Home, End   move; in a group, scroll
    Enter              open the group
    s, r               the next order (trouble, name, behind, lag, age); reverse it
    b                  only groups that are not OK, or all
    Esc                back from a group; clear the search
    q, Ctrl-C          leave

    NO_COLOR=1 turns colours off.

    \b
    Examples:
      warren top
      warren top --url https://warren.example.com --every 10
      warren top --bootstrap broker-1:9092
    """
    from warren.terminal import top_command

    with errors_as_lines():
        top_command.top(source, every)


@click.command(short_help="Show the partitions of one group.")
@click.argument("group")
@source_options
@click.option("--cluster", metavar="NAME", default="", help="If several have a group of this name.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def lag(source: "AnswerSource", group: str, cluster: str, *, as_json: bool) -> None:
    """Show why GROUP has its status, and all of its partitions, the worst first.

    --json prints what /v4/group answers.

    \b
    Exit codes: 0 the group is OK, 3 it is WARN, 4 it is ERR; 1 nobody answers, or it is unknown.

    \b
    Examples:
      warren lag billing
      warren lag billing --cluster eu --url https://warren.example.com
      warren lag billing --bootstrap broker-1:9092 --json
    """
    from warren.terminal import status_command

    with errors_as_lines():
        raise click.exceptions.Exit(status_command.lag(source, group, cluster, as_json=as_json))
