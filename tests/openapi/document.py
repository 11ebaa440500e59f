"""The OpenAPI document as a file, without a server or a database: `python -m tests.openapi.document FILE`."""

import json
import sys
from pathlib import Path

from api.app import create_app
from api.kernel import openapi
from models.base.settings import Settings

SERVER = "https://recruiting.test"
"""The server in the document; the linters refuse localhost and example.com."""


def write(file: Path) -> None:
    """Write the document of the application, which opens no connection before its first request."""
    settings = Settings(
        database_url="postgresql+asyncpg://nobody@127.0.0.1:1/none",
        secret_key="a secret of the tests, long enough",
    )
    file.write_text(json.dumps(openapi.openapi_document(create_app(settings), server=SERVER), indent=1))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
