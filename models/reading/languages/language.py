"""What a language contributes to reading: its words and phrases, and how its titles are built.

`en.py`, `de.py`, `fr.py` and `nl.py` each hold one `Language`. Two kinds of text are written there:

- *words*: parted by white space, compared in lower case;
- *phrases*: parted by bars, each a regular expression in which a space stands for any white space. The readers join
  the phrases of all languages into one pattern, so a phrase must not contain named groups.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

_BAR = re.compile(r"\s*\|\s*")


def any_phrase(phrases: str) -> str:
    r"""Return a group that matches any of the phrases between the bars; a space stands for any white space.

    A phrase may hold regular expression syntax of its own. Blanks beside a bar do not count: write `\s` for one.
    """
    return "(?:" + r"\s+".join(_BAR.sub("|", phrases.strip()).split()) + ")"


class LeadIn(NamedTuple):
    """A way to announce a title in running text: how much it is worth, and the expression that ends before the title.

    The expression is matched with case, and its spaces are literal.
    """

    weight: float
    pattern: str


class Cue(NamedTuple):
    """Phrases that hint at a country, and how strongly: 1 is a weak hint, 4 a sure sign."""

    country: str
    weight: float
    phrases: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadingWords:
    """Phrases that are the heading of a section of an advertisement, by section."""

    required: str
    nice: str
    tasks: str
    company: str
    offer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleWords:
    """What stands in, around and before job titles."""

    work: str
    """Words that name a kind of work: `nurse`, `engineer`."""
    work_endings: str = ""
    """Words: last parts of compounds that name a kind of work, as `-leiter` does."""
    doubtful_work: str = ""
    """Words for work that often mean something else; they count only where a title is expected."""
    takes_en: bool = False
    """Whether words for work form cases or plurals with `-en` and `-n`."""
    capitalised_nouns: bool = False
    """Whether every noun has a capital, so that a title does not begin with a small letter."""
    head_first: bool = False
    """Whether the word for work opens a title."""
    irregular_plurals: tuple[tuple[str, str], ...] = ()
    """Endings of the plural and of the singular."""
    plurals: tuple[tuple[str, str], ...] = ()
    """Expressions for an ending of the plural, with what replaces it in the singular."""
    short_forms: Mapping[str, str] = field(default_factory=dict)
    """Words that are searched for in another form: `devs` as `developer`."""
    prepositions: str = ""
    """Phrases before which the main part of a title ends."""
    of: str = ""
    """Words that link a doubtful word for work to what follows: `head of`."""
    stops: str
    """Words that no title goes on with."""
    praise: str = ""
    """Words before a title that do not belong to it: articles and praise."""
    closing_pairs: str = ""
    """Two words that together end a title, parted by bars."""
    glued: str = ""
    """Phrases that end a title although the space before them is missing."""
    lead_ins: tuple[LeadIn, ...] = ()
    announces_like: str = ""
    """The code of a language that announces titles with the same words."""
    cuts: str = ""
    """Phrases, with case, after which the words before a gender mark begin to be the title."""
    training: str
    """Phrases before a training or an earlier job, which is not the job advertised."""
    sentence: str
    """Phrases of a full sentence, which a title line does without."""
    organisation: str = ""
    """Phrases that mark a line as the name of an organisation."""
    label: str
    """Labels of a title: `job title`."""
    opening_label: str
    """Labels that a title may stand behind on one line."""
    announcement: str
    """Phrases that open a title line without being part of the title: `wanted`."""
    suffix: str
    """Phrases that close a title line without being part of the title."""
    post: str
    """Phrases for a post, as in `position of accountant`."""
    post_of: str
    """Phrases that link a post to its title."""
    article: str = ""
    pay_scale: str = ""
    """Phrases before the number of a pay scale."""
    grade: str = ""
    """Phrases before the number of a level."""
    other_label: str
    """Labels of something else than the title."""
    before_place: str
    """Phrases before the place that closes a title line."""
    working_time: str
    """Words that say how and when the work is done, not which work it is."""
    gender_words: str = ""
    """Phrases for a sex within a gender mark."""
    all_genders: str = ""
    """Phrases that replace a gender mark."""
    double_forms: str = ""
    """Expressions for the second half of a form for both sexes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenWords:
    """How languages that people speak are named and asked for."""

    names: Mapping[str, str]
    """Words for each language, by its English name in lower case."""
    also_words: str = ""
    """Names that without a capital are words of their own."""
    tail: str = ""
    """Phrases glued to the name of a language: `-speaking`."""
    level: str
    cue: str
    """Phrases near the name of a language that say it is spoken."""
    goes_on: str
    """Phrases that may follow the English name of a spoken language; before another noun it is an adjective."""
    of_others: str = ""
    """Phrases for other people, markets or countries that speak a language."""
    welcome: str
    ideally: str
    no: str
    """Phrases of denial somewhere before or after the name."""
    not_: str
    """Phrases of denial before `needed`."""
    needed: str
    required: str
    is_: str = ""
    """Phrases between the name and `required`."""
    in_: str = ""
    """Phrases between a level and the name: `fluent in`."""
    speaking: str = ""
    """Phrases after a name that say a language is meant, not the subject of the work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class YearsWords:
    """How years of experience are counted and asked for."""

    numbers: str
    """The words for one to ten, in order."""
    ones: str = ""
    """Further words for one."""
    years: str
    months: str
    or_more: str
    until: str
    """Phrases between two numbers of a range."""
    compound: str = ""
    """Phrases behind a number that count years of experience in one word, as `-jährige Erfahrung` does."""
    reader: str
    """Phrases that address the reader or name the candidate."""
    experience: str
    experience_noun: str
    """Phrases for experience before which no years stand: `experience: 5 years`."""
    experience_link: str
    """Phrases between the noun and the number."""
    asked: str
    """Phrases before a number that say it is a requirement."""
    not_before: str
    not_after: str
    """Phrases beside years that are no experience: ages, contracts, histories, school years."""
    boast: str
    """Phrases of a company about itself."""
    secondary: str
    """Phrases before years that are a part of those required, or welcome."""
    at_most: str
    short_at_most: str
    short_at_least: str
    short_years: str
    short_experience: str
    short_of: str
    """Phrases between the unit and `experience`, with the space after them."""
    short_not: str
    """The same in short intents: bounds, units, `experience`, and what makes it an age."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillWords:
    """What stands around skills."""

    example_before: str
    example_after: str
    denied: str
    little: str
    """Phrases that ask for a little of a skill."""
    firm: str
    """Phrases that require a skill."""
    around: str
    """Words beside skills in short intents that say nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionWords:
    """How a text rules something out."""

    not_: str
    also_not: str
    """Phrases that repeat the denial: `no juniors, no seniors`."""
    needed: str
    """Phrases that turn a denial into `not required`."""
    agencies: str
    no_agencies: str
    no_freelancers: str
    freelance: str
    levels: str
    """Levels that titles carry."""
    remote: str
    """Phrases for where people work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortWords:
    """The words of short intents."""

    greeting: str
    asker: str
    wish: str
    asking: str
    asked: str = ""
    """Phrases of `please find me`: the greeting, who asks, the wish, the verb, what follows the verb."""
    joiners: str
    """Phrases that part two pieces of an intent: `with`."""
    edges: str
    """Words that a title neither begins nor ends with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceWords:
    """What stands around the place of work."""

    noise: str
    """Words beside places that name none."""
    label: str
    label_alone: str
    """Labels of a place, with the value on the same line or alone above it."""
    workplace_before: str
    workplace_article: str
    workplace_after: str
    """Phrases that say a place is the place of work."""
    our: str
    office: str
    """`our Berlin office`."""
    seat_before: str
    """Phrases before one of several offices, or the seat of the company."""
    mention_before: str
    title_before: str
    title_article: str
    title_after: str = ""
    """Phrases around a place in a title line."""
    elsewhere_before: str
    """Phrases before places of travel, studies or customers."""
    organisation_before: str
    organisation_of: str
    organisation_after: str = ""
    """Phrases that make a place a part of an organisation's name; those after it are matched with case."""
    city_adjective: str = ""
    """Expression, with case, for what follows the name of a city that is used as an adjective."""
    within: str
    radius: str
    around: str
    within_article: str
    within_after: str
    """Phrases before and after a distance: `within 30 km radius around`, `Ghent, within 30 km`."""
    asked_before: str
    asked_article: str
    """Phrases before a place in a short intent."""
    not_before: str
    not_link: str
    """Phrases before a place that a short intent rules out."""
    country_weights: Mapping[str, float]
    """How strongly the language alone hints at a country."""
    cues: tuple[Cue, ...] = ()
    """Hints at a country, counted in texts of this language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """A language that texts are read in."""

    code: str
    """ISO 639-1."""
    small_words: str
    """The most frequent words, by which the language of a text is told."""
    and_: str
    or_: str
    """Phrases: `and`, `or`."""
    headings: HeadingWords
    titles: TitleWords
    spoken: SpokenWords
    years: YearsWords
    skills: SkillWords
    exclusions: ExclusionWords
    short: ShortWords
    places: PlaceWords
