"""Protected characteristics in given values: gender, age, ethnicity, origin, religion, health, family, orientation.

People are never searched by them. `ANYWHERE` are phrases that say such a thing wherever they stand in a value; `WHOLE`
are words that say it as a whole value or beside a word for a person, and mean something else in other company (a black
belt, a Catholic school). `BESIDE_PERSON` are words that say it only beside a word for a person (Dutch is a language).
`OCCUPATIONAL` are phrases of work that stay although a protected word stands in them. Words are compared without case
and accents; the lists are in English, German, French and Dutch.
"""

import re
from collections.abc import Mapping

from models.market.title_words import fold

ANYWHERE: Mapping[str, str] = {
    "gender": "woman|women|female|females|male|males|men|transgender|frau|frauen|weiblich|weibliche|weiblicher"
    "|weiblichen|mannlich|mannliche|mannlicher|mannlichen|mann|manner|femme|femmes|homme|hommes|feminin|masculin"
    "|vrouw|vrouwen|vrouwelijk|vrouwelijke|mannelijk|mannelijke|mannen",
    "age": "young|youthful|younger than|older than|digital native|digital natives|millennial|millennials|gen z"
    "|in their twenties|in their thirties|in their forties|years old|jung|junge|junger|junges|jahre alt|junger als"
    "|alter als|jeune|jeunes|plus jeune que|ans d age|jong|jonge|jonger dan|ouder dan|jaar oud",
    "ethnicity": "ethnicity|ethnic minority|ethnic minorities|people of color|people of colour|person of color"
    "|person of colour|african american|african americans|migration background|migrant background|caucasian"
    "|migrationshintergrund|ethnische herkunft|hautfarbe|issu de l immigration|issue de l immigration|origine ethnique"
    "|de couleur|migratieachtergrond|etnische afkomst|huidskleur|allochtoon|autochtoon",
    "origin": "nationality|foreigners|immigrants|native born|passport holder|passport holders|citizens only"
    "|nationals only|staatsangehorigkeit|auslander|einwanderer|nationalite|etrangers|immigres|de souche|nationaliteit"
    "|buitenlanders|immigranten",
    "religion": "muslim|muslims|jewish|jews|hindu|hindus|buddhist|buddhists|atheist|atheists|konfession|moslem|muslime"
    "|muslimisch|judisch|juden|musulman|musulmane|musulmans|juif|juive|juifs|moslim|moslims|joods|joden",
    "health": "pregnant|able bodied|no disability|with a disability|handicapped|no sick leave|schwanger|schwerbehindert"
    "|ohne behinderung|mit behinderung|enceinte|handicape|handicapee|sans handicap|zwanger|gehandicapt"
    "|zonder beperking|met een beperking",
    "family": "married|unmarried|divorced|childless|no kids|no children|without children|single mother|single mothers"
    "|verheiratet|unverheiratet|geschieden|kinderlos|ohne kinder|keine kinder|alleinerziehend|mariee|celibataire"
    "|divorcee|sans enfants|sans enfant|gehuwd|getrouwd|ongehuwd|gescheiden|kinderloos|zonder kinderen|geen kinderen",
    "orientation": "gay|lesbian|queer|heterosexual|homosexual|lgbt|lgbtq|schwul|lesbisch|homosexuell|heterosexuell"
    "|homosexuel|homosexuelle|lesbienne|homoseksueel|heteroseksueel",
}
WHOLE: Mapping[str, str] = {
    "gender": "lady|ladies|gentleman|gentlemen|dame|damen|dames|girl|girls|boy|boys|mother|mothers|father|fathers",
    "age": "old|elderly|retired|senior citizen|senior citizens|age|alt|oud",
    "ethnicity": "black|white|asian|african|arab|hispanic|latino|latina|noir|noire|schwarz|weiss|blanc|blanche|zwart",
    "religion": "christian|christians|catholic|catholics|protestant|protestants|christ|christen|christlich|katholisch"
    "|evangelisch|catholique|chretien|chretienne|christelijk|katholiek|religion|religious|glaubig|gelovig",
    "health": "disabled|healthy|behindert|gesund|gezond",
    "family": "single|ledig|vrijgezel|marie|divorce",
    "origin": "foreigner|immigrant|native",
}
BESIDE_PERSON = (
    "german|dutch|french|belgian|american|british|polish|turkish|moroccan|indian|chinese|italian|spanish|foreign|deutsche"
    "|deutscher|turkischer|turkische|francais|francaise|marocaine|turque|nederlandse|turkse|marokkaanse|belgische"
)
PERSON = (
    "people|person|persons|candidate|candidates|applicant|applicants|citizen|citizens|national|nationals|passport|origin"
    "|descent|heritage|roots|background|leute|personen|bewerber|kandidaten|herkunft|staatsburger|personnes|candidats"
    "|origine|mensen|afkomst|kandidaat"
)
LINKING = "of|a|an|the|no|not|only|are|is|von|nur|keine|de|d|des|sans|van|geen|alleen"
OCCUPATIONAL = re.compile(
    r"\bwom[ae]n['’]?s?['’]? (?:wear|health|clothing|fashion|shoes|footwear|shelter|refuge|football|studies|care)"
    r"|women in tech|\bmen['’]?s?['’]? (?:wear|clothing|fashion|shoes|grooming|health)|pregnant women"
    r"|gender (?:studies|equality|research)|young (?:people|offenders|adults|learners|professionals?)"
    r"|ernst (?:&|and) young"
    r"|(?:muslim|jewish|hindu|buddhist) (?:chaplain|studies|schools?|theology|ministry|education)"
    r"|[/(-]\s*-?(?:frau|mann|männer|frauen)\b|sages?-femmes?|femmes? de (?:m[ée]nage|chambre)"
    r"|hommes? (?:de m[ée]nage|toutes mains|d['’]entretien)|chefs? d['’]hommes|frauen(?:heilkunde|arzt|ärztin|haus)"
    r"|(?:mode|pr[êe]t-[àa]-porter|chaussures?|v[êe]tements?|coiffeu(?:r|se)) (?:femmes?|hommes?)"
    r"|jeunes? (?:enfants?|publics?|pousses?)|[ée]ducat(?:eur|rice) (?:de )?jeunes|junge menschen"
    r"|jonge (?:kinderen|mensen)",
    re.IGNORECASE,
)
_AGE = re.compile(
    r"\b(?:under|over|below|above|max|maximum|unter|uber|hochstens|moins de|plus de|onder de|boven de|onder|boven"
    r"|aged?)"
    r" (?:the age of |age )?[1-9]\d(?: (?:years?|jahren?|ans|jaar)(?: old| alt| oud)?)?$"
    r"|\b[1-9]\d (?:(?:to|bis|a|tot) )?[1-9]\d (?:years old|jahre alt|ans|jaar oud)$"
)
_WORDS = re.compile(r"[a-z0-9]+")
_ANYWHERE = {phrase: kind for kind, phrases in ANYWHERE.items() for phrase in phrases.split("|")}
_WHOLE = {phrase: kind for kind, phrases in WHOLE.items() for phrase in phrases.split("|")}
_BESIDE_PERSON, _PERSON, _LINKING = (frozenset(words.split("|")) for words in (BESIDE_PERSON, PERSON, LINKING))
_LONGEST = max(phrase.count(" ") + 1 for phrase in _ANYWHERE)


def protected_kind(value: str) -> str | None:
    """Return which protected characteristic a value asks for (`gender`, `age`, …); null when it asks for none."""
    words = _WORDS.findall(fold(OCCUPATIONAL.sub(" work ", value)))
    for length in range(1, _LONGEST + 1):
        for at in range(len(words) - length + 1):
            if kind := _ANYWHERE.get(" ".join(words[at : at + length])):
                return kind
    if _AGE.search(" ".join(words)):
        return "age"
    said = [word for word in words if word not in _LINKING]
    telling = [word for word in said if word not in _PERSON]
    if len(telling) == 1 and len(said) > 1 and telling[0] in _BESIDE_PERSON:
        return "origin"
    return _WHOLE.get(" ".join(telling))


def never_searched(value: str, kind: str) -> str:
    """Return why a value is not used."""
    return f"“{value}” ({kind}) is a protected characteristic and is never searched."
