"""Figures for Prometheus: requests as they are counted, studies as the database has them when asked."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from windvane.storage import Database, Summary

LATENCIES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
SHARED = "PROMETHEUS_MULTIPROC_DIR"  # a folder where several processes add up their figures


class StudyFigures(Collector):
    """Gauges of every study, read from the database on each scrape, so right whoever wrote."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """One family per figure, one sample per study."""
        now, studies = time.time(), self._database.studies()
        damaged = sum(study.damaged is not None for study in studies)
        yield GaugeMetricFamily(
            "windvane_damaged_studies", "Studies whose definition cannot be read", damaged
        )
        families: dict[str, tuple[str, Callable[[Summary], float | None]]] = {
            "steps": ("Observations told so far", lambda s: s.tells),
            "points_in_use": ("Observations that the model uses", lambda s: s.size),
            "resets": ("Resets so far", lambda s: s.resets),
            "violations": ("Tells at which a constraint was beyond its limit", lambda s: s.violations),
            "pending": ("Trials that wait for an answer", lambda s: s.pending),
            "failed": ("Trials that failed", lambda s: s.failed),
            "seconds_since_last_record": (
                "Seconds since anything was written to the study",
                lambda s: None if s.last_at is None else max(0.0, now - s.last_at),
            ),
        }
        yield from self._webhooks(now)
        for name, (text, figure) in families.items():
            family = GaugeMetricFamily(f"windvane_study_{name}", text, labels=["study"])
            for study in studies:
                value = figure(study)
                if value is not None:
                    family.add_metric([study.name], float(value))
            yield family

    def _webhooks(self, now: float) -> Iterator[GaugeMetricFamily]:
        """What waits to be sent, receiver by receiver, and since when."""
        queue = GaugeMetricFamily("windvane_webhook_queue", "Deliveries that wait", labels=["webhook"])
        lag = GaugeMetricFamily(
            "windvane_webhook_lag_seconds", "Age of the oldest delivery that waits", labels=["webhook"]
        )
        backlog = {each.webhook_id: each for each in self._database.deliveries.backlog(now)}
        for webhook in self._database.webhooks.list():
            waits = backlog.get(webhook.id)
            queue.add_metric([str(webhook.id)], waits.waiting if waits else 0)
            oldest = now if waits is None or waits.since is None else waits.since
            lag.add_metric([str(webhook.id)], max(0.0, now - oldest))
        yield queue
        yield lag


class Metrics:
    """The figures of one service."""

    def __init__(self, database: Database) -> None:
        own = CollectorRegistry()
        count = partial(Counter, registry=own)
        timed = partial(Histogram, buckets=LATENCIES, registry=own)
        self.requests = count("windvane_requests", "Requests answered", ["route", "method", "status"])
        self.latency = timed("windvane_request_seconds", "Time to answer", ["route"])
        self.steps = timed(
            "windvane_step_seconds", "Time of a step of a study, from its turn to the disk", ["kind"]
        )
        self.tells = count("windvane_tells", "Observations told through this service")
        self.resets = count("windvane_resets", "Resets that those caused")
        self.violations = count("windvane_violations", "Observations told with a constraint beyond its limit")
        self.failures = count("windvane_failures", "Trials marked as failed")
        self.deliveries = count("windvane_webhook_deliveries", "Webhook calls by outcome", ["outcome"])
        self._scraped = CollectorRegistry() if os.environ.get(SHARED) else own
        if self._scraped is not own:
            MultiProcessCollector(self._scraped)  # type: ignore[no-untyped-call]
        self._scraped.register(StudyFigures(database))

    def text(self) -> bytes:
        """Everything, in Prometheus's text format."""
        return generate_latest(self._scraped)
