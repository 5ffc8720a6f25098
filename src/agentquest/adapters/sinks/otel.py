"""OpenTelemetry: a trace per episode, with a span per step and per model call.

Names follow the conventions for generative AI. Prompts and replies are not sent; the run's own
records have them. `OTEL_EXPORTER_OTLP_ENDPOINT` and its kin say where spans go; where the
program has set up a provider of its own, that is used.
"""

import os
from datetime import datetime
from pathlib import Path
from typing import Any

from agentquest.extras import MissingExtra
from agentquest.records.episode import Call, EpisodeRecord, Step
from agentquest.records.manifest import Manifest
from agentquest.running.sinks import Sink

try:
    from opentelemetry import trace
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Status, StatusCode, Tracer
except ImportError as error:
    raise MissingExtra("otel", "the sink otel", ["opentelemetry-sdk"]) from error

Attributes = dict[str, str | int | float | bool]
_BILLION = 1_000_000_000
_FLUSH_MS = 20_000


class OpenTelemetrySink(Sink):
    """`sinks: [otel]`."""

    def __init__(self, manifest: Manifest, folder: Path) -> None:
        super().__init__(manifest, folder)
        known = trace.get_tracer_provider()
        self._is_own = not isinstance(known, TracerProvider)
        self._provider: Any = _provider() if self._is_own else known
        version = manifest.versions.get("agentquest")
        self._tracer: Tracer = self._provider.get_tracer("agentquest", version)

    def finished(self, record: EpisodeRecord) -> None:
        """Make the episode's trace, with the times at which it was played."""
        began = int(datetime.fromisoformat(record.started_at).timestamp() * _BILLION)
        span = self._tracer.start_span(
            f"invoke_agent {record.agent}", start_time=began, attributes=_episode(record)
        )
        if record.error is not None:
            span.set_status(Status(StatusCode.ERROR, record.error.kind))
        now = began
        for step in record.steps:
            now = self._step(span, step, now)
        span.end(end_time=max(now, began + int(record.seconds * _BILLION)))

    def _step(self, parent: Span, step: Step, began: int) -> int:
        ended = began + int(step.seconds * _BILLION)
        attributes: Attributes = {
            "agentquest.step": step.index,
            "agentquest.action": step.action or "",
            "agentquest.how": step.how,
            "agentquest.valid": step.valid,
            "agentquest.reward": step.reward,
            "agentquest.progress": step.progress,
        }
        inside = trace.set_span_in_context(parent)
        span = self._tracer.start_span("step", inside, start_time=began, attributes=attributes)
        within = trace.set_span_in_context(span)
        asked = began
        for call in step.calls:
            model = self._tracer.start_span(
                f"chat {call.model}", within, start_time=asked, attributes=_call(call)
            )
            asked += int((call.latency_s or 0.0) * _BILLION)
            model.end(end_time=asked)
        span.end(end_time=max(ended, asked))
        return max(ended, asked)

    def close(self, summary: dict[str, Any]) -> None:
        """Send what waits and shut down; a provider that the program set up is left alone."""
        if self._is_own:
            self._provider.force_flush(_FLUSH_MS)
            self._provider.shutdown()


def _provider() -> Any:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    name = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": "agentquest"}
    provider = TracerProvider(resource=Resource.create(name))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


def _episode(record: EpisodeRecord) -> Attributes:
    return {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": record.agent,
        "gen_ai.request.model": record.model or "",
        "agentquest.run": record.run_id,
        "agentquest.benchmark": record.benchmark,
        "agentquest.task": record.task_id,
        "agentquest.task_type": record.task_type,
        "agentquest.split": record.split,
        "agentquest.trial": record.trial,
        "agentquest.end": record.end.value,
        "agentquest.scored": record.scored,
        "agentquest.success": record.success,
        "agentquest.reward": record.reward,
        "agentquest.progress": record.progress,
        "agentquest.steps": len(record.steps),
    }


def _call(call: Call) -> Attributes:
    attributes: Attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": call.model,
        "agentquest.attempts": call.attempts,
        "agentquest.cached": call.cached,
    }
    if call.usage is not None:
        attributes["gen_ai.usage.input_tokens"] = call.usage.prompt_tokens
        attributes["gen_ai.usage.output_tokens"] = call.usage.completion_tokens
    if call.cost is not None:
        attributes["agentquest.cost"] = call.cost
    return attributes
