"""What `warren top` shows, and what each key changes; it knows neither terminal nor network."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from warren.serve.v4.shapes import ClusterColumns, Overview
from warren.terminal.group_choice import ORDERS, Filter
from warren.terminal.group_table import TableLine

FAR = 2**31  # lines
MOST_TYPED = 200  # characters of a search
Name = tuple[str, str]  # cluster and group


@dataclass(frozen=True)
class TopState:
    search: str = ""
    is_typing: bool = False
    only_bad: bool = False
    sort: str = "trouble"
    chosen: Name | None = None  # the line the keys stand on; None: the first
    opened: Name | None = None  # the group that is shown instead of all
    scroll: int = 0  # lines of the opened group that are above the screen
    is_over: bool = False

    @property
    def choice(self) -> tuple[str, bool, str]:
        """All that decides which groups are shown."""
        return self.search, self.only_bad, self.sort

    def choose(self, seen: Overview, found: Sequence[TableLine]) -> list[TableLine]:
        """The lines to show: those with every word of the search, as the page finds them."""
        searched = self.search.lower().split()
        if searched:
            texts = (text for cluster in seen.clusters for text in _texts(cluster))
            found = [
                line
                for line, text in zip(found, texts, strict=True)
                if all(word in text for word in searched)
            ]
        return Filter(only_bad=self.only_bad, sort=self.sort).choose(found)

    def place(self, shown: Sequence[TableLine]) -> int:
        """Where the chosen line stands; the first if it is gone."""
        names = ((line.cluster, line.group) for line in shown)
        return next((at for at, name in enumerate(names) if name == self.chosen), 0)


def _texts(cluster: ClusterColumns) -> Iterator[str]:
    """By group: its name, its topics and its owners; a Burrow tells only the name."""
    nothing: list[list[int]] = [[]] * len(cluster.group)
    places = zip(cluster.group, cluster.topics or nothing, cluster.owners or nothing, strict=True)
    for group, topics, owners in places:
        names = [cluster.topic_names[each] for each in topics]
        names += [cluster.owner_names[each] for each in owners]
        yield "\n".join([group, *names]).lower()


class Extent(NamedTuple):
    """What there is to move in."""

    shown: Sequence[TableLine]
    page: int  # lines of a screen
    scrolls: int = 0  # how far the opened group can be scrolled


def press(state: TopState, key: str, extent: Extent) -> TopState:
    """The state after a key: a character, or the name of another key."""
    shown, page = extent.shown, extent.page
    if state.is_typing:
        return _type(state, key)
    if key == "q":
        return replace(state, is_over=True)
    steps = {"up": -1, "down": 1, "pgup": -page, "pgdn": page, "home": -FAR, "end": FAR}
    if state.opened:
        return _in_group(state, key, steps.get(key, 0), extent.scrolls)
    if key in steps and shown:
        at = min(max(state.place(shown) + steps[key], 0), len(shown) - 1)
        return replace(state, chosen=(shown[at].cluster, shown[at].group))
    if key == "enter" and shown:
        line = shown[state.place(shown)]
        name = (line.cluster, line.group)
        return replace(state, chosen=name, opened=name, scroll=0)
    return _choose_others(state, key)


def _type(state: TopState, key: str) -> TopState:
    if key == "esc":
        return replace(state, search="", is_typing=False)
    if key in {"enter", "up", "down", "pgup", "pgdn"}:
        return replace(state, is_typing=False)
    if key == "backspace":
        return replace(state, search=state.search[:-1])
    if len(key) == 1 and key.isprintable():
        return replace(state, search=(state.search + key)[:MOST_TYPED])
    return state


def _in_group(state: TopState, key: str, step: int, scrolls: int) -> TopState:
    if key in {"esc", "backspace", "left"}:
        return replace(state, opened=None)
    return replace(state, scroll=max(min(state.scroll + step, scrolls), 0))


def _choose_others(state: TopState, key: str) -> TopState:
    order, is_reversed = state.sort.removeprefix("-"), state.sort.startswith("-")
    if key == "/":
        return replace(state, is_typing=True)
    if key == "esc":
        return replace(state, search="", only_bad=False)
    if key == "b":
        return replace(state, only_bad=not state.only_bad)
    if key == "s":
        orders = [*ORDERS]
        return replace(state, sort=orders[(orders.index(order) + 1) % len(orders)])
    if key == "r":
        return replace(state, sort=order if is_reversed else f"-{order}")
    return state
