"""What an incident is about, and the key under which it is saved."""

import json
from typing import NamedTuple


class Subject(NamedTuple):
    """A group, by its verdict; or its lag, or that of one of its topics, as a module asked for."""

    cluster: str
    group: str
    module: str = ""  # empty: the verdict, which is the same for all modules
    topic: str = ""

    @property
    def key(self) -> str:
        # ASCII, whatever the names hold: they may be no UTF-8.
        return json.dumps(self)

    @classmethod
    def of(cls, key: str) -> "Subject":
        return cls(*json.loads(key))
