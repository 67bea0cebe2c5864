"""A pipeline that remembers: history as Spark would tell it."""

import threading

import msgspec
from support.http_side import CONFIG, Actions

from warren.model.history_question import HistoryQuestion
from warren.serve.v4 import group_past, shapes

HISTORY_CONFIG = CONFIG + "[history]\n"
STEPS = 24


class Remembering(Actions):
    """Answers as the pipeline's process does, from a made-up past."""

    def recent_history(self, question: HistoryQuestion) -> str:
        return self.group_history(question)

    def group_history(self, question: HistoryQuestion) -> str:
        cluster, group, (since, until), *_ = question
        step = (until - since) // STEPS
        times = [since + step * number for number in range(STEPS)]
        lags: list[int | None] = [None, *(50 * number for number in range(1, STEPS - 1)), 1234]
        incidents = [  # the newest first
            group_past.Incident(times[20], None, "ERR", 1234),
            group_past.Incident(times[3], times[5], "WARN", 900),
        ]
        kept = [group_past.KeptPartition("orders", number, 1234) for number in range(3)]
        states: list[shapes.PartitionState | None] = ["OK"] * STEPS
        states[20:] = ["STOP"] * 4
        heat = group_past.HeatMap(step, times, 3, kept, [lags] * 3, [states] * 3)
        statuses: list[shapes.GroupState | None] = ["OK"] * STEPS
        answer = group_past.History(
            cluster=cluster,
            group=group,
            since_ms=since,
            until_ms=until,
            moments=STEPS - 1,
            step_ms=step,
            times_ms=times,
            lag=lags,
            max_lag=lags,
            status=statuses,
            offset=lags,
            incidents=incidents,
            heat_map=heat,
        )
        told = shapes.PipelineAnswer(200, msgspec.Raw(msgspec.json.encode(answer)))
        return msgspec.json.encode(told).decode()


class Hesitating(Remembering):
    """Says twice that it cannot answer now, then waits to be let go on, and answers."""

    def __init__(self) -> None:
        super().__init__()
        self.refusals = 2
        self.go_on = threading.Event()

    def recent_history(self, _question: HistoryQuestion) -> str:
        return ""

    def group_history(self, question: HistoryQuestion) -> str:
        if self.refusals:
            self.refusals -= 1
            return '{"code":503,"answer":{"error":true,"message":"others are being answered"}}'
        self.go_on.wait(60)
        return super().group_history(question)


class Forgetful(Remembering):
    """Has nothing of anybody."""

    def group_history(self, _question: HistoryQuestion) -> str:
        return '{"code":404,"answer":{"error":true,"message":"there is no such group"}}'
