"""Makes the dashboards and the alert rules: `PYTHONPATH=deploy/grafana python -m generator`.

Three stores answer the same questions: `prometheus.py`, `influxdb.py` and `elasticsearch.py` put
each into the store's language; `overview.py`, `consumers.py` and `group.py` lay out the panels once
for all three.
"""
