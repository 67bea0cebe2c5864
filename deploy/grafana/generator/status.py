"""Statuses as words and colours; each store has numbers of its own for them."""

from collections.abc import Mapping

from grafana_foundation_sdk.models.dashboard import ValueMap, ValueMapping, ValueMappingResult

Words = Mapping[int, str]

COLOURS = {
    "OK": "green",
    "WARN": "orange",
    "ERR": "red",
    "STOP": "dark-red",
    "STALL": "purple",
    "REWIND": "blue",
    "NOTFOUND": "text",
    "REWIND or unknown": "blue",
    "ready": "green",
    "starting": "orange",
}

# /metrics has Burrow's numbers.
BURROW_GROUP: Words = {1: "OK", 2: "WARN", 3: "ERR"}
BURROW_PARTITION: Words = {1: "OK", 2: "WARN", 4: "STOP", 5: "STALL", 6: "REWIND"}
# Points in stores have Telegraf's, which knows no REWIND and writes 0 for it.
TELEGRAF_GROUP: Words = {1: "OK", 2: "NOTFOUND", 3: "WARN", 4: "ERR"}
TELEGRAF_PARTITION: Words = {1: "OK", 3: "WARN", 5: "STOP", 6: "STALL", 0: "REWIND or unknown"}


def mappings(words: Words) -> list[ValueMapping]:
    results = {
        str(code): ValueMappingResult(text=word, color=COLOURS[word], index=index)
        for index, (code, word) in enumerate(words.items())
    }
    return [ValueMap(results)]
