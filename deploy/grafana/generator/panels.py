"""Panels of each kind, with what all of that kind have in common."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from grafana_foundation_sdk.builders import (
    common,
    dashboard,
    stat,
    statetimeline,
    table,
    timeseries,
)
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models import common as shapes
from grafana_foundation_sdk.models.dashboard import (
    DataTransformerConfig,
    DynamicConfigValue,
    FieldColorModeId,
    Threshold,
    ThresholdsMode,
)

from generator.questions import Asked, Source
from generator.status import COLOURS, Words, mappings

FULL, HALF, THIRD, QUARTER = 24, 12, 8, 6
RECENT = "5m"  # for what is, not for what was

AnyPanel = stat.Panel | statetimeline.Panel | table.Panel | timeseries.Panel
P = TypeVar("P", stat.Panel, statetimeline.Panel, table.Panel, timeseries.Panel)


@dataclass(frozen=True)
class Ready(Builder[Dataquery]):
    """A query as the builders want it."""

    query: Dataquery

    def build(self) -> Dataquery:
        return self.query


@dataclass(frozen=True)
class Look:
    """What is said about a panel, and how large it is."""

    title: str
    about: str
    width: int = HALF
    height: int = 8
    unit: str = "short"


@dataclass(frozen=True)
class Drawing:
    """Panels of one store."""

    source: Source

    def numbers(self, question: str, look: Look, words: Words | None = None) -> stat.Panel:
        """Large numbers: the newest value of each series, as a word where there are some."""
        panel = self._begun(stat.Panel(), self.source.asked[question], look)
        newest = common.ReduceDataOptions().calcs(["lastNotNull"]).values(values=False)
        panel.reduce_options(newest).no_value("0").color_mode(shapes.BigValueColorMode.VALUE)
        panel.graph_mode(shapes.BigValueGraphMode.NONE if words else shapes.BigValueGraphMode.AREA)
        panel.thresholds(steps({None: "text"}))
        if words:
            panel.mappings(mappings(words)).text_mode(shapes.BigValueTextMode.VALUE)
        return panel

    def lines(self, question: str, look: Look) -> timeseries.Panel:
        panel = self._begun(timeseries.Panel(), self.source.asked[question], look)
        legend = common.VizLegendOptions().show_legend(show_legend=True)
        legend.display_mode(shapes.LegendDisplayMode.TABLE).calcs(["lastNotNull", "max"])
        legend.placement(shapes.LegendPlacement.BOTTOM)
        tooltip = common.VizTooltipOptions().mode(shapes.TooltipDisplayMode.MULTI)
        panel.legend(legend).tooltip(tooltip.sort(shapes.SortOrder.DESCENDING))
        return panel.span_nulls(span_nulls=True).axis_label(look.title).fill_opacity(5)

    def statuses(self, question: str, look: Look, words: Words) -> statetimeline.Panel:
        """A band for each series, coloured and with the word in it."""
        panel = self._begun(statetimeline.Panel(), self.source.asked[question], look)
        legend = common.VizLegendOptions().show_legend(show_legend=True)
        legend.display_mode(shapes.LegendDisplayMode.LIST)
        panel.mappings(mappings(words)).legend(legend.placement(shapes.LegendPlacement.BOTTOM))
        return panel.merge_values(merge_values=True).show_value(shapes.VisibilityMode.AUTO)

    def rows(self, question: str, look: Look, words: Words, *sort_by: str) -> table.Panel:
        """A table with the columns that the question names; what is named nothing is left out."""
        asked = self.source.asked[question]
        panel = self._begun(table.Panel(), asked, look)
        for each in arranged(asked):
            panel.with_transformation(each)
        cell = {"type": shapes.TableCellDisplayMode.COLOR_TEXT}
        coloured = [setting("mappings", mappings(words)), setting("custom.cellOptions", cell)]
        panel.override_by_name("status", coloured).thresholds(steps({None: "text"}))
        orders = [
            common.TableSortByFieldState().display_name(name).desc(desc=True) for name in sort_by
        ]
        return panel.sort_by([*orders])

    def _begun(self, panel: P, asked: Asked, look: Look) -> P:
        panel.title(look.title).description(look.about).unit(look.unit)
        panel.span(look.width).height(look.height).datasource(self.source.datasource)
        if self.source.least_interval:
            panel.interval(self.source.least_interval)
        panel.targets([Ready(query) for query in asked.targets])
        return panel


def steps(colours: Mapping[float | None, str]) -> dashboard.ThresholdsConfig:
    """From each value on, a colour; from None, the one of what is less."""
    found = [Threshold(value=value, color=colour) for value, colour in colours.items()]
    return dashboard.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(found)


def setting(name: str, value: object) -> DynamicConfigValue:
    return DynamicConfigValue(id_val=name, value=value)


def coloured_by_status(panel: P) -> P:
    """Series that are named after a status have its colour."""
    for word in ("OK", "WARN", "ERR"):
        colour = {"mode": FieldColorModeId.FIXED, "fixedColor": COLOURS[word]}
        panel.override_by_name(word, [setting("color", colour)])
    return panel


def arranged(asked: Asked) -> Sequence[DataTransformerConfig]:
    joined = DataTransformerConfig(id_val="merge", options={})
    shown = [name for name, title in asked.columns.items() if title]
    columns = DataTransformerConfig(
        id_val="organize",
        options={
            "excludeByName": {name: True for name, title in asked.columns.items() if not title},
            "indexByName": {name: place for place, name in enumerate(shown)},
            "renameByName": {name: asked.columns[name] for name in shown},
        },
    )
    return [joined, columns]
