"""Capital letters for what the source keeps in lower case: names, titles, companies and places, as people write them.

A text that holds a capital already is left as it is.
"""

import re
from collections.abc import Callable, Set


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PARTICLES = _words(
    "af al ap av bin bint da dal de del della den der des di do dos du e el het ibn la las le les los 't te ten ter van"
    " vom von y zu zum zur"
)
MINOR = _words(
    "am an and at auf aan bei by das de del dem den der des di do du een el en et for für het im in la las le les los"
    " of on op per sous sur the to und upon van voor with y zu zur 's 't"
)
WRITTEN = {
    word.lower(): word
    for word in _words(
        "AG AI API AWS BI BIM BMW BV BVBA CAD CEO CFO CHRO CIO CISO CMO CNC COO CPO CRM CRO CTO DBA DevOps"
        " DevSecOps EHS EMEA EPC ERP ETL EU FMCG FP GCP GIS GmbH GP HGV HR HRBP HSE HVAC IBM ICT ICU ING IoT iOS IT"
        " ITIL JavaScript KG KYC LLC LLP MAG MBA MIG ML MLOps .NET NHS Node.js NV OEM PhD PHP PLC PLM PMO PR QA"
        " QHSE RF RN RPA SA SaaS SAP SARL SAS SCADA SDET SEA SEO SOC SQL SRE SRL TypeScript UI UK US USA UX VFX VP"
    )
}
ROMAN = re.compile(r"i{2,3}|iv|vi{0,3}|ix")
NO_VOWELS = re.compile(r"[bcdfghjklmnpqrstvwxz]{2,4}")
NOT_INITIALS = _words("bros dr jr ltd mr mrs ms mt ptn pvt sr st")
BETWEEN_WORDS = re.compile(r"([-/()&+,]|\s+)")
ELIDED = frozenset({"d", "l"})
LONGEST_PREFIX = 1
SHORTEST_MC = 5


def person_name(text: str) -> str:
    """`jo van der berg` → `Jo van der Berg`, `o'brien-mcdonald` → `O'Brien-McDonald`."""
    return _recased(text, _name_word, small=PARTICLES)


def family_name(text: str) -> str:
    """Return the name as `person_name` does, but with small particles at the beginning: `van der Berg`."""
    first, space, rest = text.partition(" ")
    return f"{first} {family_name(rest)}" if space and first in PARTICLES else person_name(text)


def title(text: str) -> str:
    """`vp of engineering` → `VP of Engineering`."""
    return _recased(text, _title_word, small=MINOR)


def company(text: str) -> str:
    """`acme example gmbh` → `Acme Example GmbH`, `kbc n.v.` → `KBC N.V.`."""
    return _recased(text, _company_word, small=MINOR)


def place(text: str) -> str:
    """`saint-germain-en-laye, france` → `Saint-Germain-en-Laye, France`."""
    return ", ".join(_recased(part, _place_word, small=MINOR) for part in text.split(", "))


def _recased(text: str, word: Callable[[str], str], *, small: Set[str]) -> str:
    if text != text.lower():
        return text
    first, *rest = BETWEEN_WORDS.split(text)
    return word(first) + "".join(part if part in small else word(part) for part in rest)


def _name_word(word: str) -> str:
    prefix, mark, rest = word.partition("'")
    if mark and rest and prefix and len(prefix) <= LONGEST_PREFIX:
        return f"{prefix.upper()}'{_capital(rest)}"
    if word.startswith("mc") and len(word) >= SHORTEST_MC:
        return "Mc" + _capital(word[2:])
    return word.upper() if ROMAN.fullmatch(word) else _capital(word)


def _place_word(word: str) -> str:
    prefix, mark, rest = word.partition("'")
    return f"{prefix}'{_capital(rest)}" if mark and prefix in ELIDED else _capital(word)


def _title_word(word: str) -> str:
    return WRITTEN.get(word) or (word.upper() if ROMAN.fullmatch(word) else _dotted(word))


def _company_word(word: str) -> str:
    if NO_VOWELS.fullmatch(word) and word not in NOT_INITIALS and word not in WRITTEN:
        return word.upper()
    return WRITTEN.get(word) or _dotted(word)


def _dotted(word: str) -> str:
    letters = word.rstrip(".").split(".")
    return word.upper() if len(letters) > 1 and all(len(letter) == 1 for letter in letters) else _capital(word)


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]
