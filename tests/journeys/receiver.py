"""A receiver of webhooks on loopback that keeps every request."""

import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Json = dict[str, Any]


class Receiver(ThreadingHTTPServer):
    """Receives webhooks on loopback and answers each with `status` after `delay` seconds.

    `before_answer` is called with each request in hand, while the sender waits.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self, status: int = 200, *, delay: float = 0, before_answer: Callable[["Receiver"], None] | None = None
    ) -> None:
        self.status = status
        self.delay = delay
        self.before_answer = before_answer
        self.received: list[tuple[str, Json, bytes]] = []
        super().__init__(("127.0.0.1", 0), _Handler)
        Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook"

    def deliveries(self) -> list[str]:
        return [headers["X-Service-Delivery"] for _, headers, _ in self.received]


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if len(body) < int(self.headers["Content-Length"]):
            return  # the sender died between the headers and the body: nothing was received
        self.server.received.append((self.path, dict(self.headers), body))
        if self.server.before_answer is not None:
            self.server.before_answer(self.server)
        time.sleep(self.server.delay)
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Log nothing."""
