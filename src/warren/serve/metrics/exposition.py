"""Prometheus' text format, and OpenMetrics where it differs."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from warren.serve.http.answers import quality

OPENMETRICS, TEXT = "application/openmetrics-text", "text/plain"

Samples = Iterable[tuple[Mapping[str, object], float]]


class Exposition(NamedTuple):
    is_openmetrics: bool = False

    @property
    def content_type(self) -> str:
        if self.is_openmetrics:
            return f"{OPENMETRICS}; version=1.0.0; charset=utf-8"
        return f"{TEXT}; version=0.0.4; charset=utf-8; escaping=underscores"

    @property
    def end(self) -> str:
        return "# EOF\n" if self.is_openmetrics else ""

    def head(self, name: str, kind: str, about: str) -> str:
        if self.is_openmetrics and kind == "counter":  # only its samples have the suffix
            name = name.removesuffix("_total")
        return f"# HELP {name} {about}\n# TYPE {name} {kind}\n"

    def family(self, name: str, kind: str, about: str, samples: Samples) -> str:
        """A whole family as one text, for small families; empty when it has no samples."""
        lines = [f"{name}{_labels(labels)} {_value(value)}\n" for labels, value in samples]
        return self.head(name, kind, about) + "".join(lines) if lines else ""


def choose_exposition(accept: str) -> Exposition:
    openmetrics = quality(accept, OPENMETRICS)
    return Exposition(is_openmetrics=openmetrics > 0 and openmetrics >= quality(accept, TEXT))


def label(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _labels(labels: Mapping[str, object]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{label(str(text))}"' for name, text in labels.items()) + "}"


def _value(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
