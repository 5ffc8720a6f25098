"""Reads logs with Inspect's own reader and says what is in them."""

import json
import sys

from inspect_ai.log import (
    read_eval_log,
    read_eval_log_sample,
    read_eval_log_sample_summaries,
)

said = []
for file in sys.argv[1:]:
    log = read_eval_log(file)
    samples = {}
    for sample in log.samples or []:
        score = (sample.scores or {}).get("outcome")
        samples[f"{sample.id}#{sample.epoch}"] = {
            "score": score.value if score else None,
            "error": sample.error.message if sample.error else None,
            "limit": sample.limit.type if sample.limit else None,
            "messages": [message.role for message in sample.messages],
            "steps": (score.metadata or {}).get("steps") if score else None,
            "prompts": [
                [message.text for message in event.input]
                for event in sample.events
                if event.event == "model"
            ],
            "results": [event.result for event in sample.events if event.event == "tool"],
            "calls": [
                call.arguments
                for message in sample.messages
                for call in getattr(message, "tool_calls", None) or ()
            ],
        }
    first = next(iter(log.samples or []))
    assert read_eval_log_sample(file, id=first.id, epoch=first.epoch).input == first.input
    summaries = read_eval_log_sample_summaries(file)
    scores = {each.name: each.metrics["mean"].value for each in log.results.scores}
    said.append(
        {
            "status": log.status,
            "model": log.eval.model,
            "samples": samples,
            "summaries": len(summaries),
            "scores": scores,
            "usage": {name: usage.total_tokens for name, usage in log.stats.model_usage.items()},
        }
    )
print(json.dumps(said))
