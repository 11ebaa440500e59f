"""Titles: cleaned, compared, sorted into families with synonyms and neighbours, and found in a text."""

from models.rules.titles.cleaning import clean, normalise
from models.rules.titles.core import alternatives, core
from models.rules.titles.families import Family, Language, expand, parse
from models.rules.titles.generic import is_generic
from models.rules.titles.keys import title_key
from models.rules.titles.phrases import LabelsByWord, Occurrence
from models.rules.titles.seniority import Seniority
from models.rules.titles.titles import MOST_EXACT, MOST_NEARBY, Titles

__all__ = [
    "MOST_EXACT",
    "MOST_NEARBY",
    "Family",
    "LabelsByWord",
    "Language",
    "Occurrence",
    "Seniority",
    "Titles",
    "alternatives",
    "clean",
    "core",
    "expand",
    "is_generic",
    "normalise",
    "parse",
    "title_key",
]
