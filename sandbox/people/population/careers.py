"""Draws careers: consecutive jobs, growing seniority, and education that ends before the first job."""

from dataclasses import dataclass

import numpy as np

from sandbox.people.population.columns import NOW, OPEN, SELF_EMPLOYED, Jobs, Oddity, Runs, Studies
from sandbox.people.population.draws import Bools, Draws, Floats, Ints, picks
from sandbox.people.population.employers import Employers
from sandbox.people.population.occupations import LANGUAGES, Occupations, Rank
from sandbox.people.population.places import Places
from sandbox.people.population.schools import DEGREES, VOCATIONAL_DEGREES, SchoolLists

MOST_JOBS = 8
_LONGEST_CAREER_MONTHS = 456
_SHORTEST_JOB_MONTHS = 3
_LOCAL_TITLE_SHARE = 0.4
_TITLE_LANGUAGE = {"BE": "nl", "NL": "nl", "DE": "de", "AT": "de", "CH": "de", "FR": "fr", "LU": "fr"}
_FRENCH_BELGIAN_REGIONS = frozenset({"wallonia", "brussels"})
_FRENCH_SWISS_REGIONS = frozenset({"geneva", "vaud", "neuchatel", "jura", "fribourg"})


@dataclass(frozen=True, slots=True)
class Backdrop:
    """The traits and places of the people on which careers depend."""

    draws: Draws
    places: Places
    occupations: Occupations
    employers: Employers
    country: Ints
    city: Ints
    family: Ints
    oddity: Ints

    @property
    def people(self) -> Ints:
        """The keys of all people."""
        return np.arange(len(self.country), dtype=np.int64)

    def slots(self, stream: str, count: int) -> Floats:
        """Draw `count` numbers for each person, shape (people, count)."""
        keys = self.people[:, None] * 64 + np.arange(count, dtype=np.int64)
        return self.draws.unit(stream, keys)

    def has(self, oddity: Oddity) -> Bools:
        """Return for each person whether their record has an oddity."""
        odd: Bools = (self.oddity & int(oddity)) != 0
        return odd


@dataclass(frozen=True, slots=True)
class _Spans:
    """When the jobs of each person begin and end, shape (people, MOST_JOBS); `real` marks those that exist."""

    real: Bools
    start: Ints
    end: Ints


def _career_months(backdrop: Backdrop) -> Ints:
    """Draw how long ago each person began to work: from half a year to 38 years, shorter times more often."""
    first, second = backdrop.slots("career length", 2).T
    months: Ints = 6 + np.floor(_LONGEST_CAREER_MONTHS * first * (0.35 + 0.65 * second)).astype(np.int64)
    return months


def _spans(backdrop: Backdrop, months: Ints) -> _Spans:
    tenure = 18 + np.floor(70 * backdrop.slots("tenure", 1)[:, 0]).astype(np.int64)
    count = np.minimum(1 + months // tenure, MOST_JOBS)
    place = np.arange(MOST_JOBS, dtype=np.int64)
    real = place < count[:, None]
    parts = np.where(real, 0.4 + backdrop.slots("share of career", MOST_JOBS), 0.0)
    # A running sum has the same order of additions everywhere, which a plain sum does not guarantee.
    sums = np.cumsum(parts, axis=1)
    ends = np.floor(sums * (months / sums[:, -1])[:, None] + 0.5).astype(np.int64)
    ends = np.where(place >= count[:, None] - 1, months[:, None], ends)
    starts = np.concatenate((np.zeros_like(ends[:, :1]), ends[:, :-1]), axis=1)
    gap_units = backdrop.slots("gap", MOST_JOBS)
    gaps = np.where((gap_units < 0.15) & (place > 0), np.floor(gap_units * 40).astype(np.int64), 0)
    starts = np.minimum(starts + gaps, np.maximum(ends - _SHORTEST_JOB_MONTHS, starts))
    begin = (NOW - months)[:, None]
    last = place == count[:, None] - 1
    left_months = np.floor(10 * backdrop.slots("months without job", 1)).astype(np.int64)
    stopped = backdrop.has(Oddity.NO_CURRENT_JOB)[:, None]
    closed = np.maximum(begin + ends - left_months, begin + starts + 1)
    end = np.where(last, np.where(stopped, closed, OPEN), begin + ends)
    return _Spans(real=real, start=begin + starts, end=end)


def _ranks(backdrop: Backdrop, spans: _Spans, months: Ints) -> Ints:
    """Let seniority follow the years since the first job, with some faster than others."""
    years = (spans.start - (NOW - months)[:, None]) / 12.0
    length = np.where(spans.end == OPEN, NOW, spans.end) - spans.start
    # Titles change within a long job too: use its middle.
    years = years + np.minimum(length, 72) / 24.0
    pace, leads, rises, peaks = (column[:, None] for column in backdrop.slots("ambition", 4).T)
    score = years + 4.0 * (pace - 0.5)
    first_of_several = (np.arange(MOST_JOBS) == 0) & (spans.real.sum(axis=1) > 1)[:, None]
    managing = (leads < 0.24) & (score >= 9.0)
    return np.select(
        [
            first_of_several & (score < 1.5),
            managing & (score >= 19.0) & (rises < 0.3) & (peaks < 0.25),
            managing & (score >= 17.0) & (rises < 0.3) & (peaks < 0.5),
            managing & (score >= 13.0) & (rises < 0.3),
            managing,
            (score >= 12.0) & (rises < 0.35),
            score >= 7.0,
            score >= 2.0,
        ],
        [Rank.TRAINING, Rank.CXO, Rank.VP, Rank.DIRECTOR, Rank.MANAGER, Rank.LEAD, Rank.SENIOR, Rank.MIDDLE],
        Rank.ENTRY,
    ).astype(np.int64)


def _families(backdrop: Backdrop, months: Ints) -> Ints:
    """Let some people begin in a neighbouring occupation."""
    near = backdrop.occupations.near
    widest = max(len(others) for others in near)
    table = np.array(
        [[others[n % len(others)] for n in range(widest)] for others in near],
        dtype=np.int64,
    )
    choice = np.floor(backdrop.slots("neighbour", 1)[:, 0] * widest).astype(np.int64)
    other = table[backdrop.family, choice]
    began_elsewhere = (backdrop.slots("began elsewhere", 1)[:, 0] < 0.3) & (months > 60)
    family = np.repeat(backdrop.family[:, None], MOST_JOBS, axis=1)
    family[:, 0] = np.where(began_elsewhere, other, family[:, 0])
    return family


def _employers(backdrop: Backdrop, family: Ints) -> Ints:
    employers, families = backdrop.employers, backdrop.occupations.families
    number = {industry: place for place, industry in enumerate(employers.industries)}
    widest = max(len(each.industries) for each in families)
    table = np.array(
        [[number[each.industries[n % len(each.industries)]] for n in range(widest)] for each in families],
        dtype=np.int64,
    )
    choice = np.floor(backdrop.slots("industry", MOST_JOBS) * widest).astype(np.int64)
    countries = np.repeat(backdrop.country, MOST_JOBS)
    industries = table[family, choice].ravel()
    chosen = employers.draw(countries, industries, backdrop.slots("employer", MOST_JOBS).ravel())
    chosen = chosen.reshape(family.shape)
    stays = backdrop.slots("promotion", MOST_JOBS) < 0.18
    for place in range(1, MOST_JOBS):
        chosen[:, place] = np.where(stays[:, place], chosen[:, place - 1], chosen[:, place])
    return chosen


def _title_languages(backdrop: Backdrop) -> Ints:
    places = backdrop.places
    local = np.array(
        [LANGUAGES.index(_TITLE_LANGUAGE.get(country.code, "en")) for country in places.countries], dtype=np.int64
    )
    french_regions = _FRENCH_BELGIAN_REGIONS | _FRENCH_SWISS_REGIONS
    speaks_french = np.array(
        [city.country.code in ("BE", "CH") and city.region in french_regions for city in places.cities]
    )
    language = np.where(speaks_french[backdrop.city], LANGUAGES.index("fr"), local[backdrop.country])
    return np.where(backdrop.slots("title language", 1)[:, 0] < _LOCAL_TITLE_SHARE, language, 0)


def _with_second_jobs(backdrop: Backdrop, spans: _Spans) -> tuple[Bools, Bools]:
    """Mark, for people with two current jobs, the previous job as still open."""
    place = np.arange(MOST_JOBS, dtype=np.int64)
    count = spans.real.sum(axis=1)
    both = backdrop.has(Oddity.TWO_CURRENT_JOBS) & ~backdrop.has(Oddity.NO_CURRENT_JOB) & (count > 1)
    last = place == (count - 1)[:, None]
    second = (place == (count - 2)[:, None]) & both[:, None]
    return last & (spans.end == OPEN), second


def draw_jobs(backdrop: Backdrop) -> tuple[Jobs, Ints]:
    """Draw all jobs, and return them with the month in which each person began to work."""
    months = _career_months(backdrop)
    spans = _spans(backdrop, months)
    family, ranks = _families(backdrop, months), _ranks(backdrop, spans, months)
    employer = _employers(backdrop, family)
    primary, second = _with_second_jobs(backdrop, spans)
    alone = backdrop.has(Oddity.FREELANCE)[:, None] & primary
    ranks = np.where(alone, Rank.OWNER, ranks)
    employer = np.where(alone, SELF_EMPLOYED, employer)
    languages = np.repeat(_title_languages(backdrop)[:, None], MOST_JOBS, axis=1)
    titles = backdrop.occupations.draw_titles(
        family.ravel(), ranks.ravel(), languages.ravel(), backdrop.slots("title", MOST_JOBS).ravel()
    )
    real = spans.real.ravel()
    return (
        Jobs(
            runs=Runs.of_lengths(spans.real.sum(axis=1).astype(np.int64)),
            employer=employer.ravel()[real],
            title=titles[real],
            start=spans.start.ravel()[real],
            end=np.where(second, OPEN, spans.end).ravel()[real],
            primary=primary.ravel()[real],
        ),
        NOW - months,
    )


def draw_studies(backdrop: Backdrop, schools: SchoolLists, began: Ints) -> Studies:
    """Draw schools and degrees that end in the half-year before the first job, one or two for each person."""
    families = backdrop.occupations.families
    degree_share = np.array([each.degree for each in families])[backdrop.family]
    chance, two, pause, length, choice = backdrop.slots("studies", 5).T
    academic = chance < degree_share
    count = np.where(academic & (two < 0.25), 2, 1)
    count = np.where(backdrop.slots("no education", 1)[:, 0] < 0.07, 0, count)
    runs = Runs.of_lengths(count)
    owners = runs.owners
    second = np.arange(len(owners)) - runs.starts[owners] == 1
    latest_end = began - np.floor(pause * 5).astype(np.int64)
    months = np.where(academic, 36 + 12 * np.floor(length * 2).astype(np.int64), 24)
    master_months = 12 + 12 * np.floor(choice * 2).astype(np.int64)
    has_two = count[owners] == 2
    end = np.where(has_two & ~second, latest_end[owners] - master_months[owners], latest_end[owners])
    start = np.where(second, end - master_months[owners], end - months[owners])
    units = backdrop.draws.unit("school", owners * 4 + second)
    degree_units = backdrop.draws.unit("degree", owners * 4 + second)
    higher = np.floor(degree_units * len(DEGREES)).astype(np.int64)
    higher = np.where(second, 1, np.where(has_two, 0, higher))
    craft = len(DEGREES) + np.floor(degree_units * len(VOCATIONAL_DEGREES)).astype(np.int64)
    widest = max(len(each.majors) for each in families)
    majors = np.array(
        [[schools.majors.index(each.majors[n % len(each.majors)]) for n in range(widest)] for each in families],
        dtype=np.int64,
    )
    column = np.floor(backdrop.draws.unit("major", owners) * widest).astype(np.int64)
    return Studies(
        runs=runs,
        school=schools.draw(backdrop.country[owners], academic[owners], units),
        degree=np.where(academic[owners], higher, craft),
        major=majors[backdrop.family[owners], column],
        start=start,
        end=end,
    )


def draw_families(draws: Draws, occupations: Occupations, people: Ints) -> Ints:
    """Draw each person's occupation in proportion to the families' weights."""
    weights = np.array([family.weight for family in occupations.families], dtype=np.int64)
    return picks(draws.unit("occupation", people), weights)
