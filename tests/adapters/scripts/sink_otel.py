"""A collector of OTLP over HTTP, in which a run plays: `sink_otel.py FOLDER`, said as JSON."""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

import agentquest

SPANS = []


class Collector(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            import gzip

            body = gzip.decompress(body)
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            for scope in resource.scope_spans:
                SPANS.extend(scope.spans)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *words: object) -> None:
        pass


server = HTTPServer(("127.0.0.1", 0), Collector)
Thread(target=server.serve_forever, daemon=True).start()
os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://127.0.0.1:{server.server_port}"
agentquest.evaluate(
    benchmark="mastermind", agent="react", num_games=2, output_dir=sys.argv[1], sinks=["otel"]
)


def value(one: object) -> object:
    return getattr(one, one.WhichOneof("value"))


print(
    json.dumps(
        [
            {
                "name": span.name,
                "id": span.span_id.hex(),
                "parent": span.parent_span_id.hex(),
                "trace": span.trace_id.hex(),
                "from": span.start_time_unix_nano,
                "to": span.end_time_unix_nano,
                "attributes": {pair.key: value(pair.value) for pair in span.attributes},
            }
            for span in SPANS
        ]
    )
)
