"""Grafana's search queries: metrics over nested buckets, named by numbers."""

from collections.abc import Sequence

from grafana_foundation_sdk.models import elasticsearch as es

INTERVAL = "1m"  # as far apart as points are; then a sum over partitions holds one of each
# Values of a tag, those with the largest numbers first. A server makes 65,536 buckets of an answer
# at most: of lines over time there are a hundred, of what has one number, or few, ten thousand.
LINES, ALL = "100", "10000"


def by_time(identity: str, least: str, interval: str = INTERVAL) -> es.DateHistogram:
    settings = es.ElasticsearchDateHistogramSettings(interval=interval, min_doc_count=least)
    return es.DateHistogram(field="@timestamp", id_val=identity, settings=settings)


def by_tags(tags: Sequence[str], most: str) -> list[es.BucketAggregation]:
    """Each ordered by the query's first metric."""
    settings = es.ElasticsearchTermsSettings(
        order=es.TermsOrder.DESC, order_by="1", size=most, min_doc_count="1"
    )
    first = 10  # numbers below are the metrics'
    return [
        es.Terms(field=f"tag.{tag}", id_val=str(number), settings=settings)
        for number, tag in enumerate(tags, start=first)
    ]


def over_time(
    query: str, metric: es.MetricAggregation, tags: Sequence[str], alias: str, ref_id: str = "A"
) -> es.Dataquery:
    return es.Dataquery(
        query=query,
        metrics=[metric],
        bucket_aggs=[*by_tags(tags, LINES), by_time("20", least="1")],
        time_field="@timestamp",
        alias=alias,
        ref_id=ref_id,
    )


def a_minute(query: str, field: str, tags: Sequence[str], alias: str) -> es.Dataquery:
    """How far a field moves from one minute to the next."""
    asked = growth(query, field, tags, INTERVAL, LINES)
    asked.alias = alias
    return asked


def growth(query: str, field: str, tags: Sequence[str], interval: str, most: str) -> es.Dataquery:
    """How far the mean of a field moves from one interval to the next."""
    mean = es.Average(field=field, id_val="1", hide=True)
    moved = es.Derivative(
        field="1",
        pipeline_agg="1",
        id_val="2",
        settings=es.ElasticsearchDerivativeSettings(unit=interval),
    )
    asked = over_time(query, mean, tags, "")
    asked.metrics = [mean, moved]
    # A derivative insists on buckets without documents.
    asked.bucket_aggs = [*by_tags(tags, most), by_time("20", "0", interval)]
    return asked


def for_all(asked: es.Dataquery, tags: Sequence[str]) -> es.Dataquery:
    """The same of every group, for an alert that looks back a few minutes only."""
    asked.bucket_aggs = [*by_tags(tags, ALL), by_time("20", least="1")]
    return asked


def table(query: str, fields: Sequence[str], tags: Sequence[str]) -> es.Dataquery:
    """A line for each of the tags' values: the largest value of each field in the panel's time."""
    return es.Dataquery(
        query=query,
        metrics=[
            es.Max(field=field, id_val=str(number)) for number, field in enumerate(fields, start=1)
        ],
        bucket_aggs=by_tags(tags, ALL),
        time_field="@timestamp",
        ref_id="A",
    )
