"""What stands in and around a title without being part of it: gender marks, working time, pay, where, since when."""

import re

from models.reading.document import any_phrase

LETTER = (
    r"(?:m|w|d|f|x|h|v|i|gn|div|all|alle|tous|homme|femme|hommes|femmes|männlich|weiblich|divers|genders?|geschlechter)"
)
GENDER_MARK = re.compile(
    rf"[\(\[]\s*(?:{LETTER}(?:\s*[/|,.;:*+\-–_ ]\s*{LETTER}){{1,3}}|gn|all\s*genders?|alle\s+geschlechter)\s*[\)\]]\*?"
    rf"|(?<![\w/])(?:[mwf]\s?/\s?[wfm]\s?/\s?[dxi]|m\s?/\s?[vw]\s?/\s?x|[hf]\s?/\s?[hf]|homme\s?/\s?femme|m\s?/\s?[fvw])(?![\w/])",
    re.IGNORECASE,
)
"""`(m/w/d)`, `(f,m,x)`, `(gn)`, `(all genders)`, `H/F`, `m/v/x`."""

INNER_FORM = re.compile(
    r"(?<=[a-zäöüß])\\?(?:[:*_]|/-?)in(?:nen)?\b|(?<=[a-zäöüß])Innen\b|(?<=[a-zäöüß])\((?:in|innen|r|n|en|e|m/w)\)"
)
"""The second half of a German double form: `:in`, `*innen`, `/-in`, `(in)`, `Innen`."""

FRENCH_FORM = re.compile(
    r"(?<=[^\W\d_])(?:\((?:e|ne|le|se|re|ère|ière|rice|trice|euse|fe|ve)s?\)s?|[·.•](?:e|ne|trice|rice|euse|ère|ière|se|ve)(?:[·.•]s)?"
    r"|/(?:trice|euse|rice|ière|ère|ne|e))(?![^\W\d_])",
    re.IGNORECASE,
)
"""The second half of a French double form: `(ne)`, `.trice`, `·e`, `/euse`."""

_WORKING_TIME_TEXT = """
remote remotely hybrid onsite site home office homeoffice télétravail full part time fulltime parttime vollzeit
teilzeit voltijds deeltijds temps plein partiel complet minijob contract permanent perm temporary temp interim
intérim cdi cdd casual employee per diem night day shift nights days evening evenings weekend weekends befristet
unbefristet ab sofort asap urgent fixed term ftc mth months month monate monat mois hire eastern western central
zone hours hour week wk festanstellung vast pt ft prn or and und et en of us usa only first st nd rd th hr h k yr pa
gn mwd employment hybride bureau
"""
WORKING_TIME = frozenset(_WORKING_TIME_TEXT.split())
"""Words that alone make up a piece of a title line which says how and when the work is done."""
PAY = re.compile(r"(?:[$€£]\s?\d|\d[\d.,]*\s?(?:[$€£]|eur|k\b)|\(?\d{4,}\)?$)", re.IGNORECASE)

_ARTICLE = r"(?:(?:an?|une?|een)\s)?"
PREFIX = re.compile(
    r"\W*(?:(?:salary\s)?(?:band|grade|level|aps)\s?\d{1,2}[a-z]?\s*[-–:]?\s+|une?\s+"
    + r"|(?:postes?|emplois?|métiers?|functie|rol|position|role|post|stelle)\s+"
    + rf"(?:de\s|d['’]|of\s|van\s|als\s){_ARTICLE}|"
    + any_phrase(
        r"""job ?title|title|jobtitel|titel|position|poste|offre d'emploi|functie(?:titel)?|role|rolle|vacature
        |vacancy|stellenangebot|stellenausschreibung|stelle|job|intitulé du poste|bezeichnung|beruf|emploi|function"""
    )
    + r"\s*(?:[:–—-]|\bas\b|\bals\b)\s*|"
    + any_phrase(
        """vacature|stellenangebot|stellenanzeige|recrutement|hiring|we are hiring|we're hiring|wanted|gesucht
        |nous recrutons|recrute|join us as|urgent"""
    )
    + rf"\b\s*[:!–—-]?\s*{_ARTICLE})",
    re.IGNORECASE,
)
LABEL = re.compile(
    r"\W{0,6}"
    + any_phrase(
        r"""job ?title|title|jobtitel|titel|position|poste|intitulé(?:\sdu poste)?|functie(?:titel)?|role|rolle
        |vacature|vacancy|stelle(?:nbezeichnung)?|job|function|métier|beruf|we are hiring|now hiring|hiring"""
    )
    + r"\W{0,3}\s?[:：]\W{0,4}(?=\S)",
    re.IGNORECASE,
)
SUFFIX = re.compile(
    r"\s*(?:\bgesucht\b|\bcareers?\b|\bjobs?\b|\bvacancy\b|\bvacature\b|\bposition\b|\bwanted\b|\bgezocht\b|\brecherchée?s?\b)\W*$",
    re.IGNORECASE,
)
BRACKETS = re.compile(r"\s*[\(\[][^()\[\]]{0,80}[\)\]]\*?")
CLOSED_BEFORE = re.compile(r"^[^()\[\]]*[)\]]")
OPEN_BRACKET = re.compile(r"\s*[\(\[][^()\[\]]*$")
SPACES = re.compile(r"\s+")
EDGES = " \t\r\n-–—|/,;:.*#_\"'„“”»«‚‘’!?&+·•"
PLUS_ENDS = ("c++", "c#", "+")


def without_gender(text: str) -> str:
    """The text without gender marks and second halves of double forms."""
    plain = GENDER_MARK.sub(" ", text)
    return FRENCH_FORM.sub("", INNER_FORM.sub("", plain))


def tidy(text: str) -> str:
    """Single spaces, nothing hanging at the edges."""
    plain = SPACES.sub(" ", text.replace("\\", "").replace("**", " ").replace("&amp;", "&")).strip()
    stripped = plain.strip(EDGES)
    for end in PLUS_ENDS:
        if plain.lower().rstrip(' *"').endswith(end) and not stripped.lower().endswith(end):
            stripped = plain.rstrip(' *"').lstrip(EDGES)
    return stripped


def clean_title(raw: str) -> str:
    """A title as it is searched for: no gender mark, no brackets, no working time, no pay, no lead-in word."""
    plain = PREFIX.sub("", without_gender(raw), count=1) if PREFIX.match(without_gender(raw)) else without_gender(raw)
    plain = CLOSED_BEFORE.sub("", plain)
    plain = OPEN_BRACKET.sub("", BRACKETS.sub(" ", plain))
    return tidy(SUFFIX.sub("", tidy(plain))).replace(" ,", ",")
