"""Measures how well job descriptions are read: `python -m benchmarks.reading [--samples PATH] [--misses]`.

Each sample is a JSON line `{id, title, location, country[], lang, company, text}` as its portal states them. It is read
three times: the body alone, with the title as first line, and with the lines title, company and location.

Titles are compared strictly: two are equal if their lower-case words are equal after removing bracketed parts, gender
marks and words of level (`senior`, `junior`, `sr`). `contained` also counts a candidate that is a run of whole words of
the stated title, or contains it, if they share at least two words or one word of eight letters.

A place counts as the stated city if it is that place, lies within 15 km of it, or is the metropolitan area around it;
a `wrong city` is any other city. `named` counts only samples whose body names the city. Years are compared with
`benchmarks/data/years.tsv`, labelled by hand.
"""

import argparse
import csv
import json
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from models.market.place_names import Place, PlaceKind, place_key
from models.market.places import great_circle_km
from models.market.reference import ShippedReference, reference
from models.reading.description import read_description
from models.reading.intents import IntentLocation, IntentReading

SAMPLES = Path("../shared/samples/job_descriptions.jsonl")
YEARS = Path(__file__).parent / "data" / "years.tsv"
BRACKETS = re.compile(r"[(\[][^()\[\]]*[)\]]")
GENDER = re.compile(r"(?<![\w/])[mwfhdvx](?:\s?[/|,]\s?[mwfhdvx]){1,3}(?![\w/])|[*:_]in(?:nen)?\b", re.IGNORECASE)
LEVELS = frozenset({"senior", "junior", "sr", "jr", "lead", "mid", "medior", "experienced", "principal"})
WORD = re.compile(r"[^\W_]+[+#]*")
NEAR_KM = 15
LONG_WORD = 8
LARGE, TOWN = 300_000, 15_000
AND = re.compile(r"\s+and\s+|/")
BETWEEN_PARTS = re.compile(r"\s*[,;(/)]\s*|\s+and\s+")
NUMBERED = re.compile(r"^\s*(?P<area>\d\w{1,2})\s*-\s*(?P<city>.+)$")


@dataclass(frozen=True, slots=True)
class Sample:
    """One advertisement with the facts that its portal states."""

    id: str
    title: str
    location: str
    countries: tuple[str, ...]
    company: str | None
    text: str


@dataclass(slots=True)
class Score:
    """Hits and tries of each measure."""

    hits: dict[str, int] = field(default_factory=dict)
    tries: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    misses: list[str] = field(default_factory=list)

    def count(self, name: str, *, hit: bool) -> None:
        """One try."""
        self.tries[name] = self.tries.get(name, 0) + 1
        self.hits[name] = self.hits.get(name, 0) + hit

    def share(self, name: str) -> str:
        """Return hits divided by tries, as the table prints it."""
        tries = self.tries.get(name, 0)
        return f"{self.hits.get(name, 0) / tries:.2f}" if tries else "-"


def body_only(sample: Sample) -> str:
    """Return the text unchanged."""
    return sample.text


def with_title(sample: Sample) -> str:
    """Return the text with the title as first line."""
    return f"{sample.title}\n\n{sample.text}"


def with_lines(sample: Sample) -> str:
    """Return the text with title, company and location as first lines."""
    return "\n".join(
        line for line in (sample.title, sample.company, sample.location, "", sample.text) if line is not None
    )


GIVENS: dict[str, Callable[[Sample], str]] = {
    "body only": body_only,
    "title + body": with_title,
    "title, company, location + body": with_lines,
}


def words(title: str) -> list[str]:
    """Return the words of a title for the comparison."""
    plain = GENDER.sub(" ", BRACKETS.sub(" ", title)).lower()
    return [word for word in WORD.findall(plain) if word not in LEVELS]


def contained(one: list[str], other: list[str]) -> bool:
    """Return whether the shorter title is a significant run of words of the longer one."""
    short, long = sorted((one, other), key=len)
    if not short or (len(short) == 1 and len(short[0]) < LONG_WORD):
        return False
    return any(long[at : at + len(short)] == short for at in range(len(long) - len(short) + 1))


def stated_cities(sample: Sample, known: ShippedReference) -> list[Place]:
    """Return the cities that the portal states, any of which counts; none for a country, region or unknown place."""
    numbered = NUMBERED.match(sample.location)
    if numbered:
        return known.places.find(numbered["city"], country=sample.countries[0], kind=PlaceKind.CITY, limit=1)
    parts = [part for part in BETWEEN_PARTS.split(sample.location) if part.strip()]
    for country in sample.countries:
        for query in (sample.location, *reversed(parts)):
            found = known.places.find(query, country=country, kind=PlaceKind.CITY, limit=1)
            if found and place_key(found[0].name):
                return found + _large(sample.location, parts, sample.countries, known)
    return []


def _large(location: str, parts: Sequence[str], countries: Sequence[str], known: ShippedReference) -> list[Place]:
    """Return the large cities among the parts of `London, New York, Singapore`."""
    found = [
        known.places.find(part, country=country, kind=PlaceKind.CITY, limit=1)
        for part in parts
        for country in countries
    ]
    return [city for cities in found for city in cities if city.population >= LARGE]


def read_places(location: IntentLocation | None, known: ShippedReference) -> list[Place]:
    """Return the cities, regions and metros that a reading names."""
    if location is None:
        return []
    ids = [*location.location_ids, *([location.anchor_location_id] if location.anchor_location_id else [])]
    return [known.places.get(location_id) for location_id in ids]


def read_countries(location: IntentLocation | None, places: Iterable[Place]) -> set[str]:
    """Return every country that a reading names or implies."""
    return {*(location.countries if location else ()), *(place.country_code for place in places)}


def is_city(place: Place, city: Place) -> bool:
    """Return whether a place read is the city stated, next to it, or the metropolitan area around it."""
    away = great_circle_km(place.lat, place.lon, city.lat, city.lon)
    return place.id == city.id or away <= max(NEAR_KM, place.radius_km or 0)


def score_titles(score: Score, sample: Sample, reading: IntentReading) -> None:
    """Score the title: exact, among the first three, contained."""
    wanted = words(sample.title)
    found = [words(title) for title in reading.title_candidates[:3]]
    score.count("title exact", hit=found[:1] == [wanted])
    score.count("title in top 3", hit=wanted in found)
    near = wanted in found or any(contained(candidate, wanted) for candidate in found)
    score.count("title contained", hit=near)
    if not near:
        score.misses.append(f"{sample.id} title: {sample.title} — read {list(reading.title_candidates)}")


def score_place(score: Score, sample: Sample, reading: IntentReading, known: ShippedReference) -> None:
    """Score country and city; a sample without a stated city counts only for the country."""
    location = reading.intent.must.location
    places = read_places(location, known)
    countries = read_countries(location, places)
    right_country = not countries.isdisjoint(sample.countries)
    score.count("country", hit=right_country)
    cities = [place for place in places if place.kind in (PlaceKind.CITY, PlaceKind.METRO)]
    stated = stated_cities(sample, known)
    if not stated:
        return
    right = any(is_city(place, city) for place in cities for city in stated)
    score.count("city", hit=right)
    score.count("wrong city", hit=bool(cities) and not right)
    if is_named(sample, stated):
        score.count("city when named", hit=right)
    if not right:
        read = [place.label for place in cities]
        score.misses.append(f"{sample.id} city: {sample.location} = {stated[0].label} — read {read}")


def is_named(sample: Sample, cities: Sequence[Place]) -> bool:
    """Return whether the body names a stated city, in English or as the portal writes it."""
    body = f" {place_key(sample.text)} "
    numbered = NUMBERED.match(sample.location)
    written = [numbered["city"]] if numbered else BETWEEN_PARTS.split(sample.location)[:1]
    return any(
        f" {place_key(name)} " in body for name in [*(city.name for city in cities), *written] if place_key(name)
    )


def score_years(score: Score, sample: Sample, reading: IntentReading, labels: dict[str, int | None]) -> None:
    """Score the years: precision over the years read, recall over the years stated."""
    if sample.id not in labels:
        return
    years, wanted = reading.intent.must.experience_years, labels[sample.id]
    found = years.min if years else None
    if found is not None:
        score.count("years precision", hit=found == wanted)
    if wanted is not None:
        score.count("years recall", hit=found == wanted)
    if found != wanted:
        score.misses.append(f"{sample.id} years: {wanted} — read {found}")


def run(samples: list[Sample], known: ShippedReference) -> dict[str, Score]:
    """Read every sample three times."""
    labels = read_years()
    scores: dict[str, Score] = {}
    for name, given in GIVENS.items():
        score = scores[name] = Score()
        for sample in samples:
            text = given(sample)
            began = time.process_time()
            reading = read_description(text, reference=known)
            score.seconds += time.process_time() - began
            score_titles(score, sample, reading)
            score_place(score, sample, reading, known)
            score_years(score, sample, reading, labels)
    return scores


def read_samples(path: Path) -> list[Sample]:
    """Return the samples of a file."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [
        Sample(row["id"], row["title"], row["location"], tuple(row["country"]), row["company"], row["text"])
        for row in rows
    ]


def read_years() -> dict[str, int | None]:
    """Return the labelled years by sample id; null where the text requires none."""
    with YEARS.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return {row["id"]: None if row["min_years"] == "null" else int(row["min_years"]) for row in rows}


MEASURES = (
    "title exact",
    "title in top 3",
    "title contained",
    "country",
    "city",
    "city when named",
    "wrong city",
    "years precision",
    "years recall",
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="How well job descriptions are read.")
    parser.add_argument("--samples", type=Path, default=SAMPLES)
    parser.add_argument("--misses", action="store_true", help="also list what was not read as stated")
    asked = parser.parse_args()
    known, samples = reference(), read_samples(asked.samples)
    read_description(samples[0].text, reference=known)
    scores = run(samples, known)
    width = max(len(name) for name in GIVENS)
    print(f"{'given':{width}}  " + "  ".join(MEASURES) + "  ms per text")
    for name, score in scores.items():
        cells = [f"{score.share(measure):>{len(measure)}}" for measure in MEASURES]
        print(f"{name:{width}}  " + "  ".join(cells) + f"  {1000 * score.seconds / len(samples):>11.1f}")
        if asked.misses:
            print(*(f"    {miss}" for miss in score.misses), sep="\n")


if __name__ == "__main__":
    main()
