"""Which board an answer is of, where its body cannot say it."""

import msgspec

from warren.serve.v4.lines import moment
from warren.serve.view import View


def board_header(view: View) -> tuple[str, str]:
    return ("x-warren-board", msgspec.json.encode(moment(view)).decode())
