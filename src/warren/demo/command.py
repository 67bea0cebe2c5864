"""The command line of the demo."""
# ruff: noqa: PLC0415  # what a command needs is imported inside it, so that `--help` answers at once
# ruff: noqa: D301  # click takes the character \b as "keep these lines as they are"

import click

from warren.terminal.options import errors_as_lines


@click.command(short_help="See it work with a broker of its own.")
@click.option(
    "--for",
    "seconds",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    help="End after this many seconds, with a summary; without it, run until Ctrl-C.",
)
@click.option(
    "--groups",
    metavar="COUNT",
    type=click.IntRange(12, 100_000),
    default=12,
    help="Consumer groups in total; beyond the twelve, a mix of good and bad ones.",
)
@click.option(
    "--partitions",
    metavar="COUNT",
    type=click.IntRange(2, 1_000),
    default=4,
    help="Partitions of each topic.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    help="Port of the page and the API, 0 for any free one; default 8000, or any if it is taken.",
)
@click.option("--keep", is_flag=True, help="Keep the demo's directory afterwards.")
def demo(
    seconds: float | None, groups: int, partitions: int, port: int | None, *, keep: bool
) -> None:
    """Start a Kafka broker on this machine, twelve consumer groups, and Warren to judge them.

    Each group shows another state: healthy, falling behind, stopped, stalled on a poison message,
    rewound and so on. Nothing is left behind when it ends.

    With --for, the exit code is 1 if a group never had its expected status.

    \b
    Examples:
      warren demo
      warren demo --for 60
      warren demo --groups 500 --partitions 20
    """
    from warren.demo.run import DemoOptions, run

    with errors_as_lines():
        options = DemoOptions(
            seconds=seconds, groups=groups, partitions=partitions, port=port, keep=keep
        )
        raise click.exceptions.Exit(run(options))
