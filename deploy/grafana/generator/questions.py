"""What a dashboard asks, whichever store answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models.dashboard import DataSourceRef

from generator.status import Words


@dataclass(frozen=True)
class Asked:
    """A question in a store's language; for tables also what the answer's columns are called."""

    targets: Sequence[Dataquery]
    columns: Mapping[str, str] = field(default_factory=dict)  # the store's name: the name shown


@dataclass(frozen=True)
class Source:
    """A store: how it is asked, and the numbers it holds for statuses."""

    name: str  # in file names and uids
    title: str
    plugin: str  # the type of Grafana's data source
    asked: Mapping[str, Asked]
    choices: Mapping[str, str]  # variable: the query for its values
    everything: str  # the value of a variable that leaves nothing out
    group_words: Words
    partition_words: Words
    least_interval: str  # points are not closer than this

    @property
    def datasource(self) -> DataSourceRef:
        return DataSourceRef(type_val=self.plugin, uid="${datasource}")
