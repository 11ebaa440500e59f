"""The shipped knowledge, and a shorthand for what a reading says."""

from models.market.reference import reference
from models.reading.description import read_description
from models.reading.intents import IntentReading


def read(text: str) -> IntentReading:
    """The reading of a text with the shipped knowledge."""
    return read_description(text, reference=reference())
