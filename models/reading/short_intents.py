"""Read short intents: `3y Go devs near Ghent, not agencies`.

Every reader takes its words; what is no place, number, language or exclusion is the title.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from models.market.place_names import Place, PlaceKind
from models.market.places import Places
from models.market.title_cleaning import clean
from models.reading.document import ReadingKnowledge, SkillMention, text_language
from models.reading.draft import DraftBlock, ReadingDraft
from models.reading.exclusions import AGENCIES, EXCLUDED_LEVEL, FREELANCE, REMOTE, Exclusion, read_exclusions
from models.reading.head_words import head_words, is_head_word, names_work, singular_title
from models.reading.intents import IntentLocation, IntentReading
from models.reading.languages import AND, OR, phrases, word_set
from models.reading.places.claims import AFTER, BEFORE, WITHIN, WITHIN_AFTER, qualified, within_km
from models.reading.places.names import NamedPlace, Spot, is_place_noise, rather_area, spots
from models.reading.places.workplace import Findings, PlaceReading
from models.reading.skills import TECHNOLOGIES, one_of_several, skill_groups
from models.reading.spoken import ENGLISH_OF, LEVEL, NAME, REACH, WELCOME, Spoken
from models.reading.title_lines import SENTENCE as SENTENCE_WORDS
from models.reading.title_lines import clean_title, is_wording
from models.reading.years import MOST_YEARS, YearsFound

BEFORE_PLACE = re.compile(
    rf"(?<!\w){phrases(lambda each: each.places.asked_before)}"
    rf"[\s:]*{phrases(lambda each: each.places.asked_article)}?$",
    re.IGNORECASE,
)
NOT_BEFORE = re.compile(
    rf"(?<!\w){phrases(lambda each: each.places.not_before)}"
    rf"(?:\s+{phrases(lambda each: each.places.not_link)})?\s+(?:the\s)?$",
    re.IGNORECASE,
)
AND_BEFORE = re.compile(rf"(?:^|\s)(?:{OR}|{AND}|&|/|,)\s*$|[,/&]\s*$", re.IGNORECASE)
VILLAGE, TOWN, LARGE = 300, 15_000, 100_000
SHORTEST = 3

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class AskedPlace:
    """A place of the intent: the stretch that speaks of it, radius and preposition included."""

    item: NamedPlace
    place: Place
    span: Span
    radius_km: int | None
    excluded: bool


def read_short(text: str, *, places: Places) -> PlaceReading:
    """Return the places of a short intent; nothing is taken for a place that may be a word."""
    findings = Findings(text)
    asked = list(_asked(text, places, findings))
    groups = list(_groups(text, places, [one.span for one in asked]))
    spans = tuple(sorted([*(one.span for one in asked), *(span for _, span in groups)]))
    wanted = [one for one in asked if not one.excluded]
    codes = dict.fromkeys(code for members, _ in groups for code in members)
    for members, span in groups:
        for code in members:
            findings.read("countries", code, *span)
    location = _location(wanted, tuple(codes), findings)
    excluded = _location([one for one in asked if one.excluded], (), Findings(text))
    return PlaceReading(location, tuple(findings.evidence), tuple(findings.warnings), spans, excluded)


def _asked(text: str, places: Places, findings: Findings) -> Iterator[AskedPlace]:
    found = list(spots(text, 0, len(text), places=places, any_case=True))
    reached = 0
    follows = False
    for number, spot in enumerate(found):
        if spot.start < reached or (is_place_noise(spot.key) and not text[spot.start : spot.end].isupper()):
            continue
        if places.group(text[spot.start : spot.end]):
            continue
        before, after = text[max(0, spot.start - BEFORE) : spot.start], text[spot.end : spot.end + AFTER]
        item = qualified(text, spot, found[number + 1] if number + 1 < len(found) else None, places)
        place = _meant(text, spot, item, places, findings, led=_led(before, follows=follows))
        if place is None:
            continue
        excluded = NOT_BEFORE.search(before) is not None
        span, radius = _span(spot, item, before, after, excluded=excluded)
        reached, follows = max(item.end, span[1]), True
        yield AskedPlace(item, place, span, radius, excluded)


def _led(before: str, *, follows: bool) -> bool:
    return bool(
        BEFORE_PLACE.search(before)
        or WITHIN.search(before)
        or NOT_BEFORE.search(before)
        or (follows and AND_BEFORE.search(before))
    )


def _span(spot: Spot, item: NamedPlace, before: str, after: str, *, excluded: bool) -> tuple[Span, int | None]:
    """Return the stretch with its preposition and radius, and the radius."""
    within, beyond = WITHIN.search(before), WITHIN_AFTER.match(after)
    lead = NOT_BEFORE.search(before) if excluded else None
    lead = lead or within or BEFORE_PLACE.search(before)
    start = spot.start - (len(before[lead.start() :].lstrip()) if lead else 0)
    end = item.end + (beyond.end() if beyond and item.end == spot.end else 0)
    return (start, end), within_km(before, after)


def _meant(text: str, spot: Spot, item: NamedPlace, places: Places, findings: Findings, *, led: bool) -> Place | None:
    everyday, capital = places.is_everyday_word(spot.key), text[spot.start].isupper()
    if rather_area(item) and not item.qualified:
        area = item.areas[0]
        plain = led or capital if area.kind is not PlaceKind.COUNTRY else True
        return area if plain and not (everyday and not (led and capital)) else None
    if not item.qualified and len(spot.key) <= SHORTEST and not capital:
        return None
    least = _least(led=led, capital=capital, everyday=everyday)
    choices = [
        place
        for place, alias in item.choices
        if item.qualified or (place.population >= (max(least, LARGE) if alias else least) and not (alias and everyday))
    ]
    if not choices:
        return None
    rivals = [place for place in choices[1:] if place.population * 2 > choices[0].population]
    if rivals:
        labels = ", ".join(place.label for place in [choices[0], *rivals][:5])
        findings.warnings.append(f"“{text[spot.start : spot.end]}” can mean {labels}; none was chosen.")
        return None
    return choices[0]


def _least(*, led: bool, capital: bool, everyday: bool) -> int:
    """Return how many people a place must have: the fewer signs stand beside its name, the more."""
    if everyday:
        return LARGE if led and capital else 5 * LARGE
    if led:
        return VILLAGE if capital else TOWN
    return TOWN if capital else LARGE


def _groups(
    text: str, places: Places, taken: list[tuple[int, int]]
) -> Iterator[tuple[tuple[str, ...], tuple[int, int]]]:
    words = list(re.finditer(r"[\w&+-]+", text))
    at = 0
    while at < len(words):
        for count in range(min(4, len(words) - at), 0, -1):
            start, end = words[at].start(), words[at + count - 1].end()
            members = places.group(text[start:end])
            free = all(end <= other[0] or start >= other[1] for other in taken)
            if members and free and (count > 1 or text[start].isupper() or len(text[start:end]) > len("emea")):
                yield members, (start, end)
                at += count - 1
                break
        at += 1


def _location(wanted: list[AskedPlace], countries: tuple[str, ...], findings: Findings) -> IntentLocation | None:
    points = list(dict.fromkeys(one.place.id for one in wanted if one.place.kind is not PlaceKind.COUNTRY))
    codes = findings.fitting([*countries, *(one.place.country_code for one in wanted)])
    if not codes:
        return None
    for one in wanted:
        quoted = (one.item.start, one.item.end)
        if one.place.kind is PlaceKind.COUNTRY:
            findings.read("countries", one.place.country_code, *quoted)
        elif len(points) == 1 and one.place.kind in (PlaceKind.CITY, PlaceKind.METRO):
            findings.read("anchor_location_id", one.place.id, *quoted)
        else:
            findings.read("location_ids", one.place.id, *quoted)
    single = next((one for one in wanted if one.place.id == points[0]), None) if len(points) == 1 else None
    if single and single.place.kind in (PlaceKind.CITY, PlaceKind.METRO):
        if single.radius_km is not None:
            findings.read("radius_km", single.radius_km, *single.span)
        return IntentLocation(countries=codes, anchor_location_id=single.place.id, radius_km=single.radius_km)
    if len(points) > 1 and any(one.radius_km for one in wanted):
        findings.warnings.append("A radius works around one place only; the named places are searched without it.")
    return IntentLocation(countries=codes, location_ids=tuple(points))


LONGEST_INTENT = 300
MOST_LINES = 6
MOST_WORDS = 35
WORDS_PER_SENTENCE = 7
_AT_MOST = rf"(?:<|{phrases(lambda each: each.years.short_at_most)})"
_AT_LEAST = rf"(?:>=?|≥|{phrases(lambda each: each.years.short_at_least)})"
_YEARS = phrases(lambda each: each.years.short_years)
_OF = phrases(lambda each: each.years.short_of)
_EXPERIENCE = phrases(lambda each: each.years.short_experience)
_UNTIL = rf"(?:-|–|{phrases(lambda each: each.years.until)})"
YEARS = re.compile(
    rf"(?<![\w.,$€£])(?P<cap>{_AT_MOST})?\s?{_AT_LEAST}?\s?"
    rf"(?P<low>\d{{1,2}})\s?\+?(?:\s?{_UNTIL}\s?(?P<high>\d{{1,2}}))?\s?\+?\s?"
    rf"{_YEARS}(?![\w'’])(?:\s?\+)?(?:\s?{_OF}?\s?(?:\w+\s)?{_EXPERIENCE}\b)?",
    re.IGNORECASE,
)
NOT_YEARS = re.compile(rf"\s*{phrases(lambda each: each.years.short_not)}\b", re.IGNORECASE)
ASKING = re.compile(
    rf"\s*(?:{phrases(lambda each: each.short.greeting)}[,! ]+)?"
    rf"(?:{phrases(lambda each: each.short.asker)}\s+)?"
    rf"(?:{phrases(lambda each: each.short.wish)}\s+)?"
    rf"{phrases(lambda each: each.short.asking)}(?!\w)\s*:?\s*{phrases(lambda each: each.short.asked)}?\s*",
    re.IGNORECASE,
)
PIECE = re.compile(
    rf"[,;|\n\r•!?]|\s[-–—]\s|\.(?=\s|$)|(?<!\w){phrases(lambda each: each.short.joiners)}(?!\w)", re.IGNORECASE
)
LANGUAGE_REACH = 25
SPEAKING = re.compile(rf"[\s-]*(?:{phrases(lambda each: each.spoken.speaking)}|[abc][12])\b", re.IGNORECASE)
LEVEL_AFTER = re.compile(rf"\W{{0,3}}\(?{LEVEL}", re.IGNORECASE)
LEVEL_BEFORE = re.compile(rf"{LEVEL}\s+(?:{phrases(lambda each: each.spoken.in_)}\s)?$", re.IGNORECASE)
AND_OR = re.compile(rf"\s+(?:{AND}|{OR}|&|/)\s+|\s*/\s*", re.IGNORECASE)
CHUNK = re.compile(r"[^\s()\[\]\"„“”:]+")
BLANK_LINE = re.compile(r"\n\s*\n")
MOST_SENTENCE_WORDS = 1
SENTENCE = re.compile(r"[.!?](?=\s|$)")
EDGE_WORDS = word_set(lambda each: each.short.edges)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch that may be a title."""

    start: int
    end: int


def is_short(text: str) -> bool:
    """Return whether a text is an intent in a few words and not an advertisement."""
    stripped = text.strip()
    if len(stripped) > LONGEST_INTENT or len(text) > 2 * LONGEST_INTENT:
        return False
    words, lines = len(stripped.split()), [line for line in stripped.splitlines() if line.strip()]
    if BLANK_LINE.search(stripped) or _sentence_words(stripped) > MOST_SENTENCE_WORDS:
        return False
    sentences = len(SENTENCE.findall(stripped))
    return (
        len(lines) <= MOST_LINES and words <= MOST_WORDS and (sentences <= 1 or words <= WORDS_PER_SENTENCE * sentences)
    )


def _sentence_words(text: str) -> int:
    """Return how many words of a full sentence follow a possible `We are looking for`."""
    asking = ASKING.match(text)
    return len(SENTENCE_WORDS.findall(text, asking.end() if asking else 0))


def short_years(text: str) -> YearsFound | None:
    """`3y`, `5+ years`, `2-4 ans`, `max 3 Jahre`."""
    for found in YEARS.finditer(text):
        low, high = int(found["low"]), int(found["high"]) if found["high"] else None
        if max(low, high or 0) > MOST_YEARS or (high is not None and high < low):
            continue
        if NOT_YEARS.match(text, found.end()):
            continue
        start = found.start() + len(found.group()) - len(found.group().lstrip())
        if found["cap"]:
            return YearsFound(None, high or low, start, found.end())
        return YearsFound(low, high, start, found.end())
    return None


def short_languages(text: str) -> list[Spoken]:
    """Return the languages that a short intent names, except those that belong to a title: `German teacher`."""
    found: list[Spoken] = []
    for name in NAME.finditer(text):
        after = text[name.end() : name.end() + LANGUAGE_REACH]
        following = CHUNK.match(after.lstrip())
        if following and is_head_word(following.group()) and not (name["tail"] or SPEAKING.match(after)):
            continue
        level = LEVEL_AFTER.match(after)
        before = LEVEL_BEFORE.search(text, max(0, name.start() - LANGUAGE_REACH), name.start())
        found.append(
            Spoken(
                language=ENGLISH_OF[name["name"].lower()],
                start=before.start() if before else name.start(),
                end=name.end() + (level.end() if level else 0),
                welcome=False,
                level=bool(level or before),
                alternative=False,
            )
        )
    return found


def title_pieces(text: str, masked: list[tuple[int, int]]) -> list[Piece]:
    """Return the stretches that no other reader took, those that name work first."""
    left = hidden(text, masked)
    asking = ASKING.match(left)
    begin = asking.end() if asking else 0
    pieces: list[Piece] = []
    for cut in [*PIECE.finditer(left, begin), None]:
        pieces += _several(left, begin, cut.start() if cut else len(left))
        begin = cut.end() if cut else len(left)
    return sorted(pieces, key=lambda piece: not names_work(left[piece.start : piece.end]))


def hidden(text: str, spans: list[tuple[int, int]]) -> str:
    """Return the text with line breaks in place of the spans; offsets stay."""
    shown = list(text)
    for start, end in spans:
        shown[start:end] = "\n" * (end - start)
    return "".join(shown)


def _several(text: str, start: int, end: int) -> list[Piece]:
    """`nurses or midwives` are two pieces, `research and development manager` is one."""
    found, begin = [], start
    for cut in AND_OR.finditer(text, start, end):
        if names_work(text[begin : cut.start()]) and names_work(text[cut.end() : end]):
            found.append(_trimmed(text, begin, cut.start()))
            begin = cut.end()
    found.append(_trimmed(text, begin, end))
    return [piece for piece in found if piece]


def _trimmed(text: str, start: int, end: int) -> Piece | None:
    words = list(CHUNK.finditer(text, start, end))
    while words and (words[0].group().lower() in EDGE_WORDS or words[0].group().strip("x").isdigit()):
        words.pop(0)
    while words and (words[-1].group().lower() in EDGE_WORDS or words[-1].group().isdigit()):
        words.pop()
    return Piece(words[0].start(), words[-1].end()) if words else None


INTENT_WORD = re.compile(r"[^\W_]+")
PIECE_END = re.compile(r"[,;.|\n]")
AROUND_SKILLS = EDGE_WORDS | word_set(lambda each: each.skills.around)
SHORTEST_KNOWN = 3
"""A shorter word is no title, even if a taxonomy has it."""


def read_short_intent(text: str, reference: ReadingKnowledge) -> IntentReading:
    """Return the intent of a few words, such as `3y Go devs near Ghent, not agencies`."""
    draft, language = ReadingDraft(text), text_language(text)
    exclusions = read_exclusions(text)
    place = read_short(text, places=reference.places)
    draft.set_place(place)
    taken = [*exclusions.taken, *place.spans]
    taken += _take_years(text, draft)
    taken += _take_languages(hidden(text, taken), draft)
    taken += [(remote.start(), remote.end()) for remote in REMOTE.finditer(text)]
    draft.ignore_working_place(hidden(text, list(exclusions.taken)))
    skills = reference.skills.find(hidden(text, taken))
    titles = _add_titles(text, taken, skills, draft, reference)
    _add_skills(text, skills, titles, draft)
    for exclusion in exclusions.found:
        if any(start < exclusion.end and exclusion.start < end for start, end in place.spans):
            draft.prove("exclude.location", exclusion.what, start=exclusion.start, end=exclusion.end)
        else:
            _exclude(exclusion, draft, reference)
    return draft.reading(candidates=tuple(draft.values.get((DraftBlock.MUST, "titles"), ())), language=language)


def _take_years(text: str, draft: ReadingDraft) -> list[Span]:
    found = short_years(text)
    if found is None:
        return []
    draft.set_years(found)
    return [(found.start, found.end)]


def _take_languages(text: str, draft: ReadingDraft) -> list[Span]:
    found = short_languages(text)
    for language in found:
        draft.add(DraftBlock.MUST, "languages", language.language, start=language.start, end=language.end)
        if language.level:
            draft.ignore_language_levels()
    return [(language.start, language.end) for language in found]


def _add_titles(
    text: str, taken: list[Span], skills: Sequence[SkillMention], draft: ReadingDraft, reference: ReadingKnowledge
) -> list[Span]:
    """Return where the titles stand."""
    found: list[Span] = []
    for piece in title_pieces(text, taken):
        said = text[piece.start : piece.end]
        title = singular_title(clean(clean_title(said)))
        if is_wording(title) and (names_work(title) or _is_known(title, reference)):
            draft.add(DraftBlock.MUST, "titles", title, start=piece.start, end=piece.end)
            found.append((piece.start, piece.end))
        elif _without(said, skills, offset=piece.start):
            draft.ignore("other", f"“{said}” was ignored: it is not a known title, place, skill or language.")
    return found


def _without(said: str, skills: Sequence[SkillMention], *, offset: int) -> list[str]:
    """Return the telling words of a piece that are no skills."""
    spans = [(skill.start - offset, skill.end - offset) for skill in skills if skill.start >= offset]
    left = hidden(said, [span for span in spans if span[1] <= len(said)])
    return [word for word in INTENT_WORD.findall(left) if word.lower() not in AROUND_SKILLS]


def _add_skills(text: str, skills: Sequence[SkillMention], titles: Sequence[Span], draft: ReadingDraft) -> None:
    """Each skill named is required, unless it is one of several or welcome; of a title only its technologies."""
    for group in skill_groups(text, skills):
        choice = one_of_several(text, group)
        for skill in group:
            titled = any(start <= skill.start < end for start, end in titles)
            if titled and skill.field not in TECHNOLOGIES:
                continue
            welcome = WELCOME.search(PIECE_END.split(text[skill.end : skill.end + REACH], maxsplit=1)[0])
            block = DraftBlock.NICE if (choice and not titled) or welcome else DraftBlock.MUST
            draft.add(block, "skills", skill.name, start=skill.start, end=skill.end)
        if choice and len(group) > 1:
            draft.warn("The text asks for one skill or another: these skills are preferred, not required.")


def _is_known(title: str, reference: ReadingKnowledge) -> bool:
    return len(title) >= SHORTEST_KNOWN and reference.titles.known(title)


def _exclude(exclusion: Exclusion, draft: ReadingDraft, reference: ReadingKnowledge) -> None:
    level = EXCLUDED_LEVEL.fullmatch(exclusion.what)
    if FREELANCE.match(exclusion.what):
        draft.exclude_freelancers(start=exclusion.start, end=exclusion.end)
    elif level:
        draft.add(DraftBlock.EXCLUDE, "titles", level["level"].lower(), start=exclusion.start, end=exclusion.end)
    elif skills := _whole(exclusion.what, reference):
        draft.add(DraftBlock.EXCLUDE, "skills", skills, start=exclusion.start, end=exclusion.end)
    elif not AGENCIES.match(exclusion.what) and head_words(exclusion.what):
        draft.add(
            DraftBlock.EXCLUDE, "titles", singular_title(exclusion.what), start=exclusion.start, end=exclusion.end
        )
    else:
        draft.ignore_exclusion(exclusion.what)


def _whole(said: str, reference: ReadingKnowledge) -> str | None:
    """Return the skill that the words as a whole name."""
    found = reference.skills.find(said)
    return found[0].name if len(found) == 1 and found[0].end - found[0].start == len(said) else None
