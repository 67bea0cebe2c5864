"""Which groups a consumer, the storage or a notifier accepts."""

import functools
from typing import Any, NamedTuple

import re2

from warren.model.kafka_names import readable


def compile_pattern(pattern: str) -> Any:
    """Compile in RE2's dialect, which is Go's; raises ValueError with RE2's reason."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else "not a regular expression"
        raise ValueError(reason.decode() if isinstance(reason, bytes) else str(reason)) from error


compiled = functools.cache(compile_pattern)  # for the patterns of the configuration


class GroupFilter(NamedTuple):
    """Two regular expressions that may match anywhere in a name; an empty one is ignored."""

    allow: str = ""
    deny: str = ""

    def accepts(self, group: str) -> bool:
        name = readable(group)  # what Go's regular expressions see
        if self.allow and not compiled(self.allow).search(name):
            return False
        return not (self.deny and compiled(self.deny).search(name))
