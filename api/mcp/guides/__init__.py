"""The guides: Markdown for agents that are new to the service, one file for each topic.

Prices, caps and limits stand in them as placeholders of `api.kernel.facts`.
"""

from functools import cache
from pathlib import Path

from api.kernel.facts import filled

TOPICS = {
    "overview": "What the service does and how a task goes, from the first call to the last",
    "cost": "What costs credits or money, what is free, and how to stay within a budget",
    "recipes": "Ready sequences of calls for common tasks",
    "outreach": "Sequences, approval, caps, replies: how messages go out safely",
    "filters": "How a search is described: intents, titles, places, companies, years",
    "errors": "Every error code, and what to do about it",
}
"""Every topic with the subject of its guide."""
FIRST = "overview"


@cache
def guide_text(topic: str) -> str:
    """Return the guide of a topic of `TOPICS`."""
    return filled(source(topic))


def source(topic: str) -> str:
    """Return the guide of a topic as it is written, with its placeholders."""
    return (Path(__file__).parent / f"{topic}.md").read_text(encoding="utf-8")
