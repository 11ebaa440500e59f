"""Reading a job description or a short intent into an intent, with evidence for each value."""

from models.rules.intents import Reading
from models.rules.reading.advertisement import read_advertisement
from models.rules.reading.asked import ReadingKnowledge
from models.rules.reading.short import is_short
from models.rules.reading.short_intent import read_short_intent


def read_description(text: str, *, reference: ReadingKnowledge) -> Reading:
    """The intent behind an advertisement or a few words; no titles when none can be read (contract, section 5).

    Nothing is guessed: what is unclear or cannot be searched for stands in `warnings` and `ignored_fields`.
    Any text is taken; offsets of the evidence count characters of `text`.
    """
    if is_short(text):
        return read_short_intent(text, reference)
    return read_advertisement(text, reference)
