"""What is told of an exception of Spark's, of which the reason is the last part."""

from warren.pipeline.follow_offsets_topic import root_cause

REFUSED = """An exception was raised by the Python Proxy. Return Message: Traceback:
  File "clientserver.py", line 642, in _call_proxy
py4j.protocol.Py4JJavaError: An error occurred while calling o99.collectToPython.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 failed 1 times
\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:2935)
Caused by: org.apache.spark.SparkException: somewhere in between
\t... 1 more
Caused by: org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized: [offsets]
"""


def test_the_innermost_cause_is_told() -> None:
    cases = {
        REFUSED: "Not authorized: [offsets]",
        "Query terminated: no leader\n\tat somewhere": "Query terminated: no leader",
        "Failed\nCaused by: java.io.EOFException\n\tat somewhere": "EOFException",
        "": "",
    }

    assert {told: root_cause(told) for told in cases} == cases
