"""How place names are compared: one key for every way of writing the same name."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

LETTERS = str.maketrans(
    {
        "ß": "ss",
        "ø": "o",
        "Ø": "O",
        "ł": "l",
        "Ł": "L",
        "æ": "ae",
        "Æ": "AE",
        "œ": "oe",
        "Œ": "OE",
        "đ": "d",
        "Đ": "D",
        "ð": "d",
        "þ": "th",
        "ı": "i",
        "’": "'",
        "‘": "'",
        "`": "'",
    }
)
UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
NOT_WORD = re.compile(r"[^a-z0-9]+")
LONG_FORMS = {
    "st": "saint",
    "ste": "sainte",
    "mt": "mount",
    "ft": "fort",
}
ENDINGS = (
    (" a m", " am main"),
    (" a main", " am main"),
    (" i br", " im breisgau"),
    (" i breisgau", " im breisgau"),
    (" i w", " in westfalen"),
    (" i westf", " in westfalen"),
    (" b", " bei"),
)
MIDDLES = ((" a d ", " an der "), (" o d ", " ob der "), (" v d ", " vor der "), (" b ", " bei "))


def ascii_form(text: str) -> str:
    """Fold accents and the letters that Unicode does not decompose; what is left of other scripts is dropped."""
    plain = unicodedata.normalize("NFC", text).translate(LETTERS)
    return unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()


def place_key(text: str) -> str:
    """Return the form in which names are compared: `St. Gallen` and `saint gallen` give the same."""
    words = NOT_WORD.sub(" ", ascii_form(text).lower()).split()
    if not words:
        return ""
    return _long_form(" ".join(LONG_FORMS.get(word, word) for word in words))


def _long_form(key: str) -> str:
    for short, long in MIDDLES:
        if short in key:
            key = key.replace(short, long)
    for short, long in ENDINGS:
        if key.endswith(short):
            return key.removesuffix(short) + long
    return key


def spelled_out(text: str) -> str:
    """Write German umlauts as two letters: `Muenchen` for `München`."""
    return unicodedata.normalize("NFC", text).translate(UMLAUTS)


# The table of places that `Places` searches: columns held in memory, names looked up in an index.


class PlaceKind(StrEnum):
    """What a location id stands for; a district (province, département, county) is a `region` too."""

    CITY = "city"
    REGION = "region"
    COUNTRY = "country"
    METRO = "metro"


class Level(StrEnum):
    """Where a row stands; finer than the kind, because regions come on two levels."""

    CITY = "city"
    REGION = "region"
    DISTRICT = "district"
    COUNTRY = "country"
    METRO = "metro"


KIND_OF = {
    Level.CITY: PlaceKind.CITY,
    Level.REGION: PlaceKind.REGION,
    Level.DISTRICT: PlaceKind.REGION,
    Level.COUNTRY: PlaceKind.COUNTRY,
    Level.METRO: PlaceKind.METRO,
}
LEVELS = tuple(Level)


class Place(NamedTuple):
    """One place. `id` is `loc_<number>`; `region` is the English name of the first-level area, null for countries.

    `label` is for people to read. `lat` and `lon` are degrees, of a region the centre of its people; `time_zone` is
    an IANA name; `radius_km` is how far a metro reaches around its centre, null for everything else.
    """

    id: str
    name: str
    kind: PlaceKind
    region: str | None
    country_code: str
    lat: float
    lon: float
    population: int
    time_zone: str | None
    label: str
    radius_km: int | None = None


class Hit(NamedTuple):
    """A row that has a name; `alias` when the name is not its usual one."""

    row: int
    alias: bool


class NameIndex(Protocol):
    """Rows by the key of a name, most people first."""

    def exact(self, key: str) -> Sequence[Hit]:
        """Return all rows with this name, most populous first."""
        ...

    def prefix(self, key: str, *, limit: int) -> Sequence[Hit]:
        """Return the rows whose name begins with the key."""
        ...

    def longest(self, word: str) -> int:
        """Return how many words the longest name has that begins with this word; 0 when none does."""
        ...

    def everyday(self, key: str) -> bool:
        """Return whether a name is also a word of working life, such as `Essen`, `Nice` or `Mobile`."""
        ...


@dataclass(frozen=True, slots=True)
class CountryNames:
    """A country: ISO codes, English name, and the row of its place."""

    code: str
    iso3: str
    names: Mapping[str, str]
    row: int


@dataclass(frozen=True, slots=True, eq=False)
class Gazetteer:
    """Columns over all rows; the first `cities` rows are cities, by population descending.

    `region` and `district` are rows or -1, `country` indexes `countries`, `time_zone` indexes `time_zones` or is -1.
    """

    ids: NDArray[np.int64]
    names: tuple[str, ...]
    level: NDArray[np.uint8]
    country: NDArray[np.int16]
    region: NDArray[np.int32]
    district: NDArray[np.int32]
    lat: NDArray[np.float32]
    lon: NDArray[np.float32]
    population: NDArray[np.int64]
    time_zone: NDArray[np.int16]
    time_zones: tuple[str, ...]
    countries: tuple[CountryNames, ...]
    radii: Mapping[int, int]
    cities: int
    country_keys: Mapping[str, str]
    groups: Mapping[str, tuple[str, ...]]
    name_index: NameIndex
