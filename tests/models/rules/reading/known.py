"""The shipped knowledge, and a shorthand for what a reading says."""

from models.data import reference
from models.rules.intents import Reading
from models.rules.reading import read_description


def read(text: str) -> Reading:
    """The reading of a text with the shipped knowledge."""
    return read_description(text, reference=reference())
