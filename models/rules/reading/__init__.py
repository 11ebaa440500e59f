"""Reading job descriptions and short intents into intents, without guessing."""

from models.rules.reading.asked import ReadingKnowledge
from models.rules.reading.description import read_description

__all__ = ["ReadingKnowledge", "read_description"]
