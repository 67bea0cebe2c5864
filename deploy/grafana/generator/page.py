"""What every dashboard has: variables at the top, links to the others, an id for each panel."""

from collections.abc import Iterable, Iterator

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.models.dashboard import (
    Dashboard,
    DashboardCursorSync,
    DashboardLinkType,
    DataSourceRef,
    VariableOption,
    VariableRefresh,
    VariableSort,
)

from generator.panels import AnyPanel
from generator.questions import Source

TAG = "warren"


def page(
    source: Source,
    name: str,
    about: str,
    variables: Iterable[dashboard.QueryVariable],
    panels: Iterable[AnyPanel],
) -> Dashboard:
    title = f"Warren / {source.title} / {name.capitalize()}"
    made = dashboard.Dashboard(title).uid(uid(source, name))
    made.description(about).tags([TAG, source.name]).time("now-1h", "now").refresh("30s")
    made.timezone("browser").editable().tooltip(DashboardCursorSync.CROSSHAIR).version(1)
    made.link(_others(source)).with_variable(_stores(source))
    for variable in variables:
        made.with_variable(variable)
    for number, panel in enumerate(panels, start=1):
        made.with_panel(panel.id(number))
    return _without_strangers(made.build())


def _without_strangers(made: Dashboard) -> Dashboard:
    """The SDK gives every variable what only those of intervals have; Grafana's schema does not."""
    for variable in (made.templating and made.templating.list_val) or ():
        variable.auto = variable.auto_count = variable.auto_min = None
    return made


def uid(source: Source, name: str) -> str:
    return f"warren-{source.name}-{name}"


def many(source: Source, *names: str) -> Iterator[dashboard.QueryVariable]:
    """Variables of which any number may be chosen, at first all."""
    for name in names:
        yield some(source, name).all_value(source.everything)


def one(source: Source, *names: str) -> Iterator[dashboard.QueryVariable]:
    for name in names:
        yield _choice(source, name).multi(multi=False).include_all(include_all=False)


def some(source: Source, name: str) -> dashboard.QueryVariable:
    """All is what the query found, not everything there is."""
    everything = VariableOption(selected=True, text="All", value="$__all")
    return _choice(source, name).multi(multi=True).include_all(include_all=True).current(everything)


def _choice(source: Source, name: str) -> dashboard.QueryVariable:
    variable = dashboard.QueryVariable(name).label(name.capitalize())
    variable.datasource(DataSourceRef(type_val=source.plugin, uid="${datasource}"))
    variable.query(source.choices[name]).refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
    return variable.sort(VariableSort.ALPHABETICAL_CASE_INSENSITIVE_ASC)


def _stores(source: Source) -> dashboard.DatasourceVariable:
    return dashboard.DatasourceVariable("datasource").label("Data source").type(source.plugin)


def _others(source: Source) -> dashboard.DashboardLink:
    link = dashboard.DashboardLink("Warren").type(DashboardLinkType.DASHBOARDS)
    link.tags([TAG, source.name]).as_dropdown(as_dropdown=False)
    return link.include_vars(include_vars=True).keep_time(keep_time=True)
