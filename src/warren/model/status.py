"""Burrow's statuses of partitions and groups."""

from enum import IntEnum


class Status(IntEnum):
    """Numbers as in Burrow's metrics, names as in its JSON; a greater number is worse."""

    NOTFOUND = 0  # groups only
    OK = 1
    WARN = 2
    ERR = 3  # groups only: some partition is STOP, STALL or REWIND
    STOP = 4  # partitions only, as the two below
    STALL = 5
    REWIND = 6
