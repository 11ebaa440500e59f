"""The shipped reference data, and a shorthand for reading a text."""

from models.market.reference import reference
from models.reading.description import read_description
from models.reading.intents import IntentReading


def read(text: str) -> IntentReading:
    """Return the reading of a text with the shipped reference data."""
    return read_description(text, reference=reference())
