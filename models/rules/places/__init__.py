"""Places: cities, regions, countries and metropolitan areas, found by id, name, distance or a source's words."""

from models.rules.places.gazetteer import LEVELS, CountryNames, Gazetteer, Hit, Level, NameIndex, Place, PlaceKind
from models.rules.places.names import ascii_form, place_key, spelled_out
from models.rules.places.search import PlaceNames, Places

__all__ = [
    "LEVELS",
    "CountryNames",
    "Gazetteer",
    "Hit",
    "Level",
    "NameIndex",
    "Place",
    "PlaceKind",
    "PlaceNames",
    "Places",
    "ascii_form",
    "place_key",
    "spelled_out",
]
