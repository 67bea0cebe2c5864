"""Who answers the commands: a running Warren, or a cluster itself."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from warren import config
from warren.config.secrets import Secret
from warren.terminal.burrow import recognise
from warren.terminal.ending import signals_as_ctrl_c
from warren.terminal.questions import Answers
from warren.terminal.remote import Remote


@dataclass(frozen=True)
class AnswerSource:
    url: str = ""
    token: Secret | None = None
    cafile: Path | None = None
    bootstrap: str = ""
    config_path: Path | None = None
    environ: tuple[tuple[str, str], ...] = ()  # that a configuration is read with

    @property
    def where(self) -> str:
        return self.bootstrap or str(self.config_path or self.url)


@contextmanager
def open_source(source: AnswerSource) -> Iterator[Answers]:
    """Give answers for as long as the context lasts; on a terminal, show what takes time."""
    if not (source.bootstrap or source.config_path):
        yield recognise(Remote(source.url, source.token, source.cafile))
        return
    from warren.terminal import direct  # noqa: PLC0415  # brings Spark, which others need not wait for

    console = Console(stderr=True)
    with ExitStack() as stack:
        if source.config_path:
            chosen = config.load(source.config_path, dict(source.environ)).config
        else:
            chosen = direct.config_of(source.bootstrap)
        stack.enter_context(signals_as_ctrl_c())
        status = console.status("Starting")
        tell = status.update if console.is_terminal else _say_nothing
        with ExitStack() as spinning:
            if console.is_terminal:
                spinning.enter_context(status)
            answers = stack.enter_context(direct.reading(chosen, tell))
        yield answers


def _say_nothing(_: str) -> None:
    pass
