"""What is said of consumers, and what ticks make of it."""

from warren.config import Consumer
from warren.pipeline.cluster import Accepts, ClusterState
from warren.pipeline.consumers import TopicConsumer
from warren.pipeline.health_report import is_catching_up
from warren.windows.windows import Windows

NOW_S = 2_000_000_000.0


def consumer() -> TopicConsumer:
    settings = Consumer(name="local", cluster="local", servers=("kafka:9092",))
    return TopicConsumer(settings, ClusterState("local", Windows()), Accepts())


def test_only_who_reads_what_has_piled_up_makes_ticks_wait() -> None:
    dead, reading, died, done = (consumer() for _ in range(4))
    for each in (reading, died, done):
        each.progress.begin({0: 0}, NOW_S)
        each.progress.see_ends({0: 10}, {0: 10}, NOW_S)
    died.cluster.problem = "no answer in time"
    done.progress.advance({0: 10}, 10, NOW_S)

    assert [*map(is_catching_up, (dead, reading, died, done))] == [False, True, False, False]
