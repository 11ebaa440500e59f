"""`python -m api`: the API served by uvicorn, with the switches that the service relies on.

The peer of a connection is what the rate limit of networks counts, so uvicorn must not replace it by what a header
claims (TRUSTED_PROXIES names whose claims count), and its own access log would write query strings.
"""

import argparse

import uvicorn


def main() -> None:
    """Read the command line and serve until told to stop."""
    parser = argparse.ArgumentParser(prog="python -m api", description="Serve the REST API.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--drain-seconds", type=int, default=10, help="how long running requests may take on a stop")
    asked = parser.parse_args()
    uvicorn.run(
        "api.app:create_app",
        factory=True,
        host=asked.host,
        port=asked.port,
        proxy_headers=False,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=asked.drain_seconds,
        log_level="warning",
    )


if __name__ == "__main__":
    main()
