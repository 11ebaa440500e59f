"""Where the people sought should live, read from an advertisement or a short intent.

Offsets of the evidence count characters of the text given. A city gives its country and an anchor, a radius only where
the text states one; several cities apart from each other give location ids. Nothing is guessed: see the warnings.
"""

from models.rules.reading.places.findings import PlaceReading
from models.rules.reading.places.reading import read_advertisement
from models.rules.reading.places.short import read_short

__all__ = ["PlaceReading", "read_advertisement", "read_short"]
