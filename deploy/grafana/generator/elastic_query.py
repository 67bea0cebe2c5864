"""Grafana's search queries: metrics over nested buckets, named by numbers."""

from collections.abc import Sequence

from grafana_foundation_sdk.models import elasticsearch as es

INTERVAL = "1m"  # as far apart as points are; then a sum over partitions holds one of each
MOST = "500"


def by_time(identity: str, least: str) -> es.DateHistogram:
    settings = es.ElasticsearchDateHistogramSettings(interval=INTERVAL, min_doc_count=least)
    return es.DateHistogram(field="@timestamp", id_val=identity, settings=settings)


def by_tag(identity: str, tag: str) -> es.Terms:
    settings = es.ElasticsearchTermsSettings(
        order=es.TermsOrder.ASC, order_by="_key", size=MOST, min_doc_count="1"
    )
    return es.Terms(field=tag, id_val=identity, settings=settings)


def by_tags(tags: Sequence[str]) -> list[es.BucketAggregation]:
    first = 10  # numbers below are the metrics'
    return [by_tag(str(number), f"tag.{tag}") for number, tag in enumerate(tags, start=first)]


def over_time(
    query: str, metric: es.MetricAggregation, tags: Sequence[str], alias: str, ref_id: str = "A"
) -> es.Dataquery:
    return es.Dataquery(
        query=query,
        metrics=[metric],
        bucket_aggs=[*by_tags(tags), by_time("20", least="1")],
        time_field="@timestamp",
        alias=alias,
        ref_id=ref_id,
    )


def a_minute(query: str, field: str, tags: Sequence[str], alias: str) -> es.Dataquery:
    """How far a field moves from one minute to the next."""
    mean = es.Average(field=field, id_val="1", hide=True)
    moved = es.Derivative(
        field="1",
        pipeline_agg="1",
        id_val="2",
        settings=es.ElasticsearchDerivativeSettings(unit=INTERVAL),
    )
    asked = over_time(query, mean, tags, alias)
    asked.metrics = [mean, moved]
    asked.bucket_aggs = [*by_tags(tags), by_time("20", least="0")]  # a derivative insists on it
    return asked


def table(query: str, fields: Sequence[str], tags: Sequence[str]) -> es.Dataquery:
    """A line for each of the tags' values: the largest value of each field in the panel's time."""
    return es.Dataquery(
        query=query,
        metrics=[
            es.Max(field=field, id_val=str(number)) for number, field in enumerate(fields, start=1)
        ],
        bucket_aggs=by_tags(tags),
        time_field="@timestamp",
        ref_id="A",
    )
