"""The words before a title in running text, and the words that end it."""
# ruff: noqa: E501 - patterns of alternatives

import re
from dataclasses import dataclass

_EN_ARTICLE = (
    r"(?:an?\b|our(?: (?:next|first|new))?\b|the\b|another\b|several\b|multiple\b|\d{1,2}\b|one\b|two\b|three\b)?"
)
_FR_ARTICLE = r"(?:un\(e\)|une?\s?/\s?une?|une?\b|des\b|notre\b|nos\b|son\b|sa\b|\d{1,2}\b|plusieurs\b)"
_NL_ARTICLE = r"(?:een\b|onze\b|\d{1,2}\b|enkele\b|meerdere\b|twee\b)?"
_DE_ARTICLE = r"(?:eine?[nrms]?\b|mehrere\b|unsere?[nr]?\b|zwei\b|\d{1,2}\b|\(?r\)?)"


@dataclass(frozen=True, slots=True)
class LeadIn:
    """A way to announce a title: how much it is worth, and in which language its phrase goes on."""

    pattern: re.Pattern[str]
    weight: float
    language: str


def _lead(language: str, weight: float, pattern: str) -> LeadIn:
    return LeadIn(re.compile(pattern), weight, language)


LEAD_INS = (
    _lead(
        "en",
        4.0,
        r"\b(?i:(?:looking|searching|hunting)(?:\s+to\s+(?:hire|recruit|appoint|add|employ|find|bring on)|\s+for|\s+out\s+for)"
        rf"|seek(?:ing|s)?(?:\s+(?:to\s+(?:hire|recruit|appoint|employ)|applicants\s+for|applications\s+for))?"
        rf"|(?:to|we(?:'re|’re|\s+are)(?:\s+currently|\s+now|\s+actively)?)\s+(?:hir(?:e|ing)|recruit(?:ing)?|appoint(?:ing)?)(?:\s+for)?"
        rf"|[Hh]iring|in\s+need\s+of|we\s+need)\s+{_EN_ARTICLE}",
    ),
    _lead("en", 4.0, r"\b(?i:(?:join|joining)\s+(?:us|our\s+team|the\s+team|.{2,30}?)\s+as)\s+(?i:an?|our|the)\b"),
    _lead(
        "en",
        3.5,
        r"\b(?i:role|position|post|vacancy|vacancies|opening|opportunity|job)\s+(?i:of|for|as|is\s+for)?\s*(?i:an?|the|our)\b",
    ),
    _lead("en", 3.0, r"(?:\bAs|\bas|\bAS)\s+(?i:an?|our|the)(?=\s|[A-Z])"),
    _lead("en", 2.5, r"\b(?i:are\s+you|you\s+are|you(?:'|’)re)\s+(?i:an?)\b"),
    _lead(
        "en",
        2.0,
        r"(?:(?<=[.!?:\n])|\A)\s*(?:\W{0,4})\bThe(?=\s+(?:[A-Z][\w&/-]*\s+){1,5}(?:will|is|works?|reports?|leads?|manages?|provides?|supports?|performs?|develops?|serves?|has)\b)",
    ),
    _lead(
        "de",
        4.0,
        r"\b(?i:such(?:en|t|e)|brauchen|verstärken)\b[^.!?\n]{0,80}?\b(?:als\b|(?i:"
        + _DE_ARTICLE
        + r")(?=\s|[\"„“*(]|[A-ZÄÖÜ]))",
    ),
    _lead("de", 3.5, r"\b(?:Stelle|Position|Rolle|Funktion|Job|Suche)\s+(?:als|des|der|nach)\s*(?:eine?[nrms]?\b)?"),
    _lead("de", 3.0, r"\b[Aa]ls\s*(?:eine?[nr]?\s|unsere?[nr]?\s)?(?=\s*[\"„“*(]{0,3}[A-ZÄÖÜ(])"),
    _lead("de", 2.5, r"\b(?i:(?:erfahrene|engagierte|motivierte|qualifizierte)n)\s*(?=[A-ZÄÖÜ])"),
    _lead(
        "fr",
        4.0,
        r"\b(?i:recherch(?:e|ons|ent|er)|recrut(?:e|ons|ent|er|ant)|embauch(?:e|ons|ent)|cherch(?:e|ons|ent))\b[^.!?\n]{0,110}?\s"
        + _FR_ARTICLE,
    ),
    _lead(
        "fr",
        4.0,
        r"\b(?i:à\s+la\s+recherche\s+d(?:e\s+|(?:'|’)une?\b|(?:'|’)un\(e\)|es\s+))(?:\s*(?:nouve\w+|futur\w*)\s)?",
    ),
    _lead(
        "fr",
        3.5,
        r"\b(?i:(?:postes?|emplois?|métiers?|missions?|fonctions?|celui)\s+(?:d(?:e|es|u)\s|d['’])(?:\s?une?\s)?)",
    ),
    _lead("fr", 3.5, r"\b(?i:en\s+(?:tant\s+qu(?:e\s|['’])|qualité\s+de\s))(?:\s?une?\s)?"),
    _lead("nl", 4.0, r"\b(?i:op\s?zoek\s+(?:naar|zijn\s+naar|bent\s+naar))\s+(?:nog\s)?" + _NL_ARTICLE),
    _lead(
        "nl",
        4.0,
        r"\b(?i:(?:zoek(?:en|t)?|werven|werft)(?:\s+(?:wij|we|ik))?)\s+(?:naar\s)?(?:een\b|onze\b|enkele\b|\d{1,2}\b)",
    ),
    _lead("nl", 3.5, r"\b(?i:(?:functie|rol|positie|vacature|job)\s+(?:van|als|voor))\s+(?:een\b)?"),
    _lead("nl", 3.0, r"\b[Aa]ls\s(?:een\s|onze\s)?(?=\s*\w)"),
    _lead("nl", 2.5, r"\b(?i:ben\s+jij|jij\s+bent)\s+(?i:een|de|onze)\b"),
)

STOPS = {
    "en": "who to that with for at on we you you'll you’ll is will are as whose where from role roles position positions "
    "within join working based reporting responsible looking interested having which post posts vacancy and/or be been "
    "your their this these has have can must would currently because when if including under by into across "
    "opportunity job it they able ready supporting helping leading serving located committed passionate",
    "de": "der die das den dem welche welcher mit für zur zum zu in im bei am an ab ist sind wir du sie dich unterstützen "
    "unterstützt bist übernimmst übernehmen gesucht auf aus von als verantworten verantwortest bringst bringen arbeitest "
    "arbeiten sorgst wirst werden kannst haben hast gestaltest betreust betreuen oder zwischen ihre unser unsere dein deine "
    "um beauftragt steuern steuerst leitest leiten planst planen vorzugsweise idealerweise welches nach durch ihr sein",
    "fr": "pour qui afin à au aux dans sur avec chez basé basée vous ayant nous est sera sous dont il elle capable disposant "
    "souhaitant possédant situé située ou vos votre notre intervenant afin ainsi selon sera seront son sa ses ce cette "
    "h/f f/h hors idéalement parlant motivé motivés dynamique confirmés rattaché que",
    "nl": "die voor om met ter in bij op dat ben bent sta is zorg speel heb hebt werk te naar draag wie jij je wij we kom "
    "zal zul ga krijg neem vorm maak coördineer beheer bouw zoals aan van waar uit binnen tussen onder via of help "
    "rapporteer verzorg leid weet kan kun en/of ondersteun lever maar dan ten tot per als onze ons jouw",
}
LEADING = {
    "en": "a an the our new experienced passionate talented motivated highly skilled dynamic enthusiastic exceptional qualified "
    "dedicated ambitious driven self-motivated hands-on creative strong great brilliant outstanding proactive reliable "
    "committed compassionate caring hardworking energetic full-time part-time permanent additional suitably ideal next first "
    "2nd second successful good friendly professional detail-oriented results-driven results-oriented innovative organised "
    "organized commercially-minded curious and seasoned accomplished fantastic very additional temporary remote several "
    "technical-minded keen bright exciting opportunity experienced, motivated, passionate, multiple top versatile "
    "collaborative strategic-minded confident capable amazing well forward-thinking kind some any following all",
    "fr": "un une un(e) des le la les l' nouveau nouvelle futur future véritable jeune bon bonne excellent plusieurs d'un d'une "
    "nouveaux nouvelles talentueux",
    "nl": "een de het onze enthousiaste gedreven gemotiveerde ervaren polyvalente flexibele dynamische creatieve nieuwe extra "
    "ambitieuze betrouwbare gepassioneerde zelfstandige technische voltijdse deeltijdse fulltime parttime leuke sterke "
    "enkele jonge echte klantgerichte sociale proactieve hands-on goede commerciële, vlotte administratief technisch",
    "de": "",
}
STOP_SETS = {language: frozenset(words.split()) for language, words in STOPS.items()}
LEADING_SETS = {language: frozenset(words.split()) for language, words in LEADING.items()}
GLUED_END = re.compile(r"(?<=[a-zäöüß])(?:who|beauftragt|unterstützen|unterstützt|übernimmst|betreust|bist)$")
