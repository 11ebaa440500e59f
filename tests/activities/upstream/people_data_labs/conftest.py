"""An adapter whose provider is a function of the test."""

from collections.abc import AsyncIterator, Callable

import httpx
import pytest

from activities.upstream.people_data_labs.source import PeopleDataLabs
from tests.activities.upstream.people_data_labs.atlas import NOW, TODAY, Atlas


@pytest.fixture
def atlas() -> Atlas:
    return Atlas()


Answering = Callable[[httpx.Request], httpx.Response]
Connect = Callable[[Answering], PeopleDataLabs]


class OtherSide(httpx.AsyncBaseTransport):
    """Returns answers as they arrive over a connection: unread and encoded."""

    def __init__(self, answer: Answering) -> None:
        self._answer = answer

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = self._answer(request)
        assert isinstance(answer.stream, httpx.ByteStream)
        wire = httpx.ByteStream(b"".join(answer.stream))
        return httpx.Response(answer.status_code, headers=answer.headers, stream=wire)


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    opened: list[PeopleDataLabs] = []

    def connect(answer: Answering) -> PeopleDataLabs:
        adapter = PeopleDataLabs(
            base_url="https://people.example",
            api_key="k" * 64,
            transport=OtherSide(answer),
            now=lambda: NOW,
            today=lambda: TODAY,
        )
        opened.append(adapter)
        return adapter

    yield connect
    for adapter in opened:
        await adapter.close()
