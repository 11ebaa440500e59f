"""A sandbox on a real web server, in a thread of the test process."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from sandbox.server import Settings, build_sandbox


class _Served(threading.Thread):
    def __init__(self, settings: Settings, listening: socket.socket) -> None:
        super().__init__(daemon=True)
        self._settings, self._listening = settings, listening
        self.server: uvicorn.Server | None = None

    def run(self) -> None:
        sandbox = build_sandbox(self._settings)
        config = uvicorn.Config(sandbox.app, log_level="critical", access_log=False, lifespan="on")
        self.server = uvicorn.Server(config)
        self.server.run(sockets=[self._listening])
        sandbox.state.close()


@contextmanager
def serving(settings: Settings) -> Iterator[str]:
    """Serve within the block, and yield the URL."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        thread = _Served(settings, listening)
        thread.start()
        while thread.server is None or not thread.server.started:
            assert thread.is_alive()
            time.sleep(0.005)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread.server.should_exit = True
        thread.join()
