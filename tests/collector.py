"""A stand-in for an OpenTelemetry collector: receives OTLP over HTTP on loopback and keeps the spans."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class Received:
    """One span."""

    service: str
    name: str
    trace_id: str
    span_id: str
    parent_id: str
    links: list[str]
    failed: bool
    facts: dict[str, str | int]


@dataclass
class Collector:
    """The spans received so far."""

    url: str
    spans: list[Received] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)

    def named(self, name: str) -> list[Received]:
        return [span for span in self.spans if span.name == name]

    def take(self, body: bytes) -> None:
        self.raw.append(body)
        for group in ExportTraceServiceRequest.FromString(body).resource_spans:
            service = next(one.value.string_value for one in group.resource.attributes if one.key == "service.name")
            for scope in group.scope_spans:
                for span in scope.spans:
                    assert not span.events  # exceptions would be reported as events, with their messages
                    assert not span.status.message
                    facts = {
                        one.key: one.value.string_value if one.value.HasField("string_value") else one.value.int_value
                        for one in span.attributes
                    }
                    self.spans.append(
                        Received(
                            service,
                            span.name,
                            span.trace_id.hex(),
                            span.span_id.hex(),
                            span.parent_span_id.hex(),
                            [link.trace_id.hex() for link in span.links],
                            failed=span.status.code == span.status.STATUS_CODE_ERROR,
                            facts=facts,
                        )
                    )


@contextmanager
def collecting() -> Iterator[Collector]:
    """Receive spans at `url` within the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            collector.take(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector = Collector(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
