"""The HTTP of Stripe's library, with a span around each call."""

from collections.abc import Mapping
from typing import Any

import stripe

from models.operate import traces
from models.operate.traces import Fact


class SpannedClient(stripe.HTTPXClient):
    """The library's HTTP, with a span around each call; addresses hold ids of the provider and are not told."""

    async def request_async(self, method: str, *asked: Any, **more: Any) -> tuple[bytes, int, Mapping[str, str]]:  # noqa: ANN401 - the library's own
        """One call."""
        with traces.upstream("stripe", method.upper()) as span:
            answer = await super().request_async(method, *asked, **more)
            traces.set_attribute(span, Fact.STATUS, answer[1])
            return answer
