"""The patterns of what advertisements add to a title: gender marks, contract, hours, pay, levels, places."""

import html
import re
import unicodedata
from collections.abc import Iterator
from enum import StrEnum

from models.market.title_words import fold, is_generic, key_contains, title_key

SPACES = re.compile(r"\s+")
SEPARATOR = re.compile(r"\s+[-–—|•·~]+\s+|\s*\|\s*|\s*;\s*|:\s+|\s+//+\s+|\s+[-–—]+(?=\w)|(?<=[a-zäöüéè])[–—]\s*")

_SEX = (
    r"(?:männlich|weiblich|divers|div|gn\*?|all\s+gender[s]?|alle\s+geschlechter|any\s+gender|tous\s+genres|alle\s+genders"
    r"|hommes?|femmes?|mann|frau|man|vrouw|male|female|human|mensch|[mwfdhxviagnuez])"
)
GENDER_MARKS = (
    re.compile(rf"[(\[]\s*{_SEX}(?:[\s/|,.;:*+&\\-]+{_SEX})*\s*\*?\s*[)\]]\*?", re.IGNORECASE),
    re.compile(
        r"[(\[]\s*(?:[mwfdhxvin]{2,4}|[mwfdhxvi](?:[\s/|,.:*\\-]*[mwfdhxvi])+)[^\w()\[\]]*[)\]]\*?", re.IGNORECASE
    ),
    re.compile(r"(?<![\w&.])[mwfhdvxi](?:\s?[/|,*\\]\s?[mwfhdvxi]){1,3}(?![\w&])\*?", re.IGNORECASE),
    re.compile(r"(?<!\w)(?:m-w-d|m\.w\.d\.?|h-f|f-h|mwd|wmd|mvx|mfd|fmd|mfx|fmx|dmw|dwm)(?!\w)", re.IGNORECASE),
    re.compile(r"\b(?:all genders|alle geschlechter|any gender|tous genres)\b", re.IGNORECASE),
)

_CONTRACT_WORDS = r"""
full[\s-]?time part[\s-]?time vollzeit teilzeit voltijds deeltijds fulltime parttime temps\s+plein
temps\s+partiel
[àa]\s+temps\s+(?:plein|partiel)
(?:in\s+)?(?:vollzeit|teilzeit)\s*(?:/|oder|und|or|,|&)\s*(?:vollzeit|teilzeit|minijob)
in\s+(?:vollzeit|teilzeit) minijob mini-job 450\s?€?[\s-]basis 520\s?€?[\s-]basis
(?:auf\s+)?(?:450|520|538|556)[\s-]?€?[\s-]basis
unbefristete?r? befristete?r? unbefristete\s+(?:stelle|festanstellung) festanstellung direktvermittlung
arbeitnehmerüberlassung
in\s+festanstellung (?:ab\s+)?sofort ab\s+sofort zum\s+nächstmöglichen\s+zeitpunkt (?:nach\s+vereinbarung)
elternzeitvertretung
schwangerschaftsvertretung krankheitsvertretung homeoffice home[\s-]office home-based remote(?!\s+sensing)
100\s?%\s?remote
remote[\s-]first fully[\s-]remote on-?site onsite télétravail thuiswerk(?:en)? telewerk
permanent(?:\s+(?:position|contract|role))? perm temp-to-perm fixed[\s-]term(?:\s+contract)? ftc

\d{1,2}(?:\s*[-–]\s*\d{1,2})?\s*-?\s*(?:months?|mths?|mth|monate|mois|maanden)(?:\s+(?:ftc|contract|befristet|fixed\s+term))?
maternity\s+cover parental\s+leave\s+cover per\s+diem prn locum seasonal
(?:first|second|third|1st|2nd|3rd|day|night|evening|weekend|early|late|rotating)\s+shifts? nachtschicht
spätschicht frühschicht
(?:im\s+)?(?:schichtdienst|schichtbetrieb|2-schicht|3-schicht) dagploeg nachtploeg
  mission\s+intérim contract\s+onbepaalde\s+duur onbepaalde\s+duur bepaalde\s+duur
vaste?\s+(?:contract|functie|job) freelance freelancer
gesucht now\s+hiring we['’]?re\s+hiring we\s+are\s+hiring vacature vacancy vacatures
job\s+(?:offer|opening|ad) stellenangebot stellenanzeige stellenausschreibung jobangebot offre\s+d['’]emploi
(?:urgent|urgently)(?:\s+(?:hiring|required))? dringend recrute recherchons
w/m h/f all\s+levels multiple\s+(?:positions|openings|locations|roles) various\s+locations
verschiedene\s+standorte
relocation(?:\s+(?:offered|support|possible))? visa\s+sponsorship sponsorship\s+available immediate\s+start
start\s+asap asap
no\s+experience(?:\s+(?:needed|required))? sign[\s-]on\s+bonus competitive\s+salary
deutschlandweit bundesweit europaweit weltweit nationwide emea\s+wide
"""
_CONTRACT = "|".join(_CONTRACT_WORDS.split())
_TRAILING_WORDS = r"""
contract(?:\s+role)? casual(?:\s+employee)? temporary temp hybrid gezocht wanted needed required hiring bonus
saison saisonnier 2x8 3x8 ploegen ploegendienst
"""
_TRAILING = "|".join(_TRAILING_WORDS.split())
_EDGE_SIGNS = r"[\s,;:/|–—\-!.*+&]"
NOISE = (
    re.compile(r"\bhttps?://\S+|\bwww\.\S+"),
    re.compile(
        r"\b(?:up\s+to|bis\s+zu|ab|à\s+partir\s+de|from)?\s*[$€£]\s?\d[\d.,']*\s?k?(?:\s*(?:[-–]|to|bis|à)\s*[$€£]?\s?\d[\d.,']*\s?k?)?"
        r"(?:\s*(?:/|per|pro|par)\s*\w+\.?)?",
        re.IGNORECASE,
    ),
    re.compile(r"\b\d[\d.,']*\s?k?\s?(?:€|eur\b|euro\b|chf\b|gbp\b)(?:\s*(?:/|per|pro|par)\s*\w+\.?)?", re.IGNORECASE),
    re.compile(r"\b\d{1,3}(?:\s?%)?\s?(?:[-–/]|bis|à|to|tot)\s?\d{1,3}\s?%|\b\d{1,3}\s?%", re.IGNORECASE),
    re.compile(
        r"\b\d{1,3}(?:[.,]\d{1,2})?(?:\s*[-–/]\s*\d{1,3}(?:[.,]\d{1,2})?)?\s?-?(?:h|hrs?|hours?|std\.?|stunden|uur|uren|heures?)\b(?!-(?!woche)\w)"
        r"(?:[\s-]*(?:/|per|pro|par|a)?\s*(?:week|wk|woche|wöchentlich|semaine|pw))?",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?:\b(?:ref|req|job|id|kennziffer|referenz|réf|vac)\.?\s*(?:id|nr|no|n°|code)?\.?\s*[:#]?\s*|#\s?)[\w-]*\d[\w-]*\b",
        re.IGNORECASE,
    ),
    re.compile(rf"^(?:(?:{_CONTRACT})(?=[^\w]|$)(?!-\w){_EDGE_SIGNS}*)+", re.IGNORECASE),
    re.compile(rf"(?:(?:^|{_EDGE_SIGNS}+)(?:{_CONTRACT}|{_TRAILING}))+{_EDGE_SIGNS}*$", re.IGNORECASE),
    re.compile(rf"(?<=\s[-–—|])\s*(?:{_CONTRACT})\s*(?=\s[-–—|])", re.IGNORECASE),
    re.compile(r"^(?:CDI|CDD|int[ée]rim)(?:\s+[-–—]\s*|\s*[:|]\s*|\s+(?=HR\b|CTO|CFO|CEO|Head))", re.IGNORECASE),
    re.compile(
        r"(?:^|\s*[-–—:|,]\s*|\s+(?:en\s+)?(?=CD))(?:CDI|CDD|int[ée]rim)(?:\s*/\s*(?:CDI|CDD|int[ée]rim))*\s*$",
        re.IGNORECASE,
    ),
    re.compile(r"(?<=,)\s*(?:" + _CONTRACT + r")\s*(?=,)", re.IGNORECASE),
    re.compile(
        r"^(?:als|wir suchen|we are looking for|looking for|nous recherchons|nous recrutons|wij zoeken)\s+"
        r"(?:eine?n?\s+|an?\s+|une?\s+|een\s+)?",
        re.IGNORECASE,
    ),
)

LEVELS = (
    re.compile(
        r"(?<=\w)[\s,]+(?:level|lvl|grade|band|stufe|niveau|step|class)\s?\d+[a-z]?(?:\s?[-–/]\s?\d+[a-z]?)?\b",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?:[elEL][egEG]?\s?\d{1,2}[a-z]?|TV[öÖ]D\s?[\w-]*|TV-L\s?\w*)\s*$"),
    re.compile(r"(?<=\w)\s+(?:I{1,3}|IV|VI{0,2})(?:\s?[/&-]\s?(?:I{1,3}|IV|VI{0,2}))*(?=\s*(?:$|[,(–—|-]))"),
    re.compile(r"(?<=\w)[\s,]+#?(?!365\b)\d{1,8}(?:\s?[-–/]\s?\d{1,8})*\s*$"),
    re.compile(r"^\d{3,}\s*[-–—:_]\s*"),
)

_PLACE = r"(?:raum|großraum|region|standort|gebiet|bereich\s+\w+|der\s+region|die\s+region|den\s+raum)"
_INTEGRAL = (
    r"(?:test|charge|residence|training|chief|e-?commerce|\w*(?:außendienst|innendienst)|einzelhandel|groß-?"
    r"|gesundheitswesen|gastgewerbe|vertrieb|verkauf|handwerk|sozial|rettungsdienst|garten|hotel|tief|hoch|straßen|anlagen|bereich"
    r"|der pflege)\b"
)
"""What belongs to the occupation although a preposition stands before it: Kaufmann im Einzelhandel."""
CUTS = (
    re.compile(r"\s(?:at|@|bei|chez)\s(?=\S)"),
    re.compile(r"\sfor\s(?=\S)"),
    re.compile(r"\spour\s(?=(?:une?|notre|nos|les?|la|l['’])\b|[A-Z])"),
    re.compile(r"\sfür\s(?:unser|den|die|das|der|eine|ein|mehrere|" + _PLACE + ")", re.IGNORECASE),
    re.compile(r"\svoor\s(?=(?:een|onze?|ons|de|het)\b|[A-Z])"),
    re.compile(rf"\s(?:im|in|in\s+der|in\s+den|für|für\s+den)\s+{_PLACE}\b", re.IGNORECASE),
    re.compile(
        rf"\s(?:im|in|in\s+der|in\s+den|in\s+de|in\s+het|within|based\s+in)\s(?!{_INTEGRAL})(?=\S)",
        re.IGNORECASE,
    ),
    re.compile(r"\s(?:à|te|près\s+de|near|nahe)\s(?=[A-ZÉÎ])"),
    re.compile(r"\sau\s+sein\s"),
    re.compile(r"\s(?:with|mit|avec|met|zur\s+unterstützung)\s(?!Behinderung|een\s+beperking)(?=\S)"),
    re.compile(r"\sen\s(?=(?:CDI|CDD|alternance|int[ée]rim|C[A-Z]\d)\b)"),
)

# What is left of an advertised title once everything that is not the occupation is taken out.


_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}")
_EDGES = " \t,;:|/\\-–—•·*_!?#&+\"'«»„“”‚‘’()[]{}"
_RIGHT_EDGES = _EDGES.replace("+", "").replace("#", "")
_CODE = re.compile(r"(?=.*\d)[A-Z0-9/. ]{1,7}$")
_PAIR = re.compile(r"([^\W\d_][\w'’-]*)\s*(?:/|\bou\b|\boder\b|\bof\b|\bor\b)\s*-?([^\W\d_][\w'’-]*)", re.IGNORECASE)
_SHORT_FEMALE = re.compile(r"(?<=[^\W\d_]{3})/-?(?:frau|mann|ster|se|euse|rice|trice|ère|ière|ne|e)\b", re.IGNORECASE)
_INCLUSIVE = (
    re.compile(r"(?<=[^\W\d_]{2})(?:[*:_]|/-?)in(?:nen)?\b"),
    re.compile(r"(?<=[^\W\d_]{2})\((?:in|innen|e|ne|se|euse|rice|trice|ère|ière|le|te|fe|ve|esse)s?\)"),
    re.compile(r"(?<=[^\W\d_]{2})[·•.](?:e|ne|se|euse|rice|trice|ère|ière|le|te)(?:[·•.]?s)?\b"),
    re.compile(r"(?<=[^\W\d_]{3})-(?:e|ne|se|euse|trice|ère)\b(?!-)"),
    re.compile(r"(?<=[a-zäöüß](?:er|or|nt|st|ur))In(?:nen)?\b"),
)
_DUTCH_FEMALE = re.compile(r"\(st\)(?=er\b)|(?<=[^\W\d_]{3})\(ster\)")
_MALE_ENDINGS = "er eur teur r n en ier mann ien"
_FEMALE_ENDINGS = "e ne se te le in innen frau ster euse teuse trice rice esse ere iere ienne"
_MALE = frozenset(["", *_MALE_ENDINGS.split()])
_FEMALE = frozenset(_FEMALE_ENDINGS.split())
_STEM = 4
MOST_LETTERS = 300
"""So many characters of a title are read: a longer text is no title."""


def clean(title: str) -> str:
    """Return the title as a search phrase: no gender mark, contract, hours, pay, level, brackets, place or employer.

    Seniority words and what follows a comma stay. Of a text longer than `MOST_LETTERS` only the beginning is read.
    Cleaning twice changes nothing more. Where nothing would be left, the title itself is given with its white space
    collapsed; an empty title stays empty.
    """
    text = collapsed(title)[:MOST_LETTERS]
    while True:
        cleaned = _once(text)
        if not cleaned or cleaned == text:
            return text
        text = cleaned


def in_one_gender(title: str) -> str:
    """Return the title, spaces collapsed, without gender marks and in the shorter of two genders."""
    text = collapsed(title)[:MOST_LETTERS]
    for mark in GENDER_MARKS:
        text = mark.sub(" ", text)
    return SPACES.sub(" ", _one_gender(text)).strip()


def normalise(title: str) -> str:
    """Return the key of the cleaned title: equal for two advertised spellings of the same title."""
    return title_key(clean(title))


def collapsed(text: str) -> str:
    """Return the text with single spaces, composed letters and no character references."""
    return SPACES.sub(" ", unicodedata.normalize("NFC", html.unescape(text)).replace("\x00", " ")).strip()


def _once(text: str) -> str:
    for mark in GENDER_MARKS:
        text = mark.sub(" ", text)
    text = _one_gender(text)
    text = _BRACKETS.sub(" ", text)
    for noise in NOISE:
        text = noise.sub(" ", text)
    text = _main_part(text)
    text = _without_levels(text)
    text = _cut(text)
    return _trim(SPACES.sub(" ", text))


def _trim(text: str) -> str:
    return text.rstrip(_RIGHT_EDGES).lstrip(_EDGES).replace(" ,", ",")


def _one_gender(text: str) -> str:
    """`Serveur / Serveuse`, `Kaufmann/-frau`, `technicien(ne)`: the shorter wording alone."""
    text = _DUTCH_FEMALE.sub("", text)
    text = _PAIR.sub(_without_female, text)
    text = _SHORT_FEMALE.sub("", text)
    for ending in _INCLUSIVE:
        text = ending.sub("", text)
    return text


def _without_female(pair: re.Match[str]) -> str:
    first, second = pair.groups()
    folded = fold(first), fold(second)
    shared = _shared_start(*folded)
    if shared < _STEM:
        return pair.group()
    ends = folded[0][shared:], folded[1][shared:]
    if _is_pair(*ends):
        return first
    return second if _is_pair(ends[1], ends[0]) else pair.group()


def _is_pair(male: str, female: str) -> bool:
    return male in _MALE and (female in _FEMALE or (male == "mann" and female == "frau"))


def _shared_start(first: str, second: str) -> int:
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count


def _without_levels(text: str) -> str:
    for level in LEVELS:
        text = level.sub(" ", text)
    return text


def _main_part(text: str) -> str:
    """Return the first telling part between dashes, bars or colons; a generic one takes the next along."""
    parts = [part for part in (_trim(piece) for piece in SEPARATOR.split(text)) if part]
    telling = [part for part in parts if not _CODE.fullmatch(part)] or parts
    if not telling:
        return ""
    if len(telling) > 1 and is_generic(telling[0]):
        return f"{telling[0]}, {telling[1]}"
    return telling[0]


def _cut(text: str) -> str:
    """Drop the employer, place or task after a preposition, unless only a generic word would stay."""
    for cut in CUTS:
        found = cut.search(text, 1)
        if found and not is_generic(text[: found.start()]):
            text = text[: found.start()]
    return text


# The occupation inside a cleaned title: without seniority words and without what follows a comma.


_BEFORE = re.compile(
    r"^(?:senior|sen\.|sr\.?|junior|jun\.|jr\.?|mid[\s-]?level|mid|experienced|entry[\s-]level|erfahrene[rn]?|medior"
    r"|intermediate|angehende[rn]?"
    r"|certified|qualified|examinierte[rn]?|ervaren|deputy\s+lead"
    r"|(?:staff|principal|lead|founding|chief)(?=\s.*\b(?:engineer|scientist|designer|developer|architect|consultant|analyst|researcher)\b))"
    r"(?:\s*[/&+]\s*|-|\s+|,\s*)",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"[\s,/-]+(?:senior|sr\.?|junior|jr\.?|confirmée?|expérimentée?|débutante?|medior|starter|mid|lead)$", re.IGNORECASE
)
_SPLIT = re.compile(r"\s*/\s*|\s+(?:or|oder|ou|of|and|und|et|en|&|\+)\s+", re.IGNORECASE)
_SHORTEST = 3


def core(title: str) -> str:
    """`Senior Data Analyst, Risk` gives `Data Analyst`; `Manager, Finance` gives `Finance Manager`.

    A title of which only generic words would stay is given as `clean` gives it.
    """
    text = clean(title)
    for part in (_before_comma, without_seniority):
        shorter = part(text)
        if shorter and not is_generic(shorter):
            text = shorter
    return text


def _before_comma(text: str) -> str:
    head, comma, tail = text.partition(",")
    if not comma:
        return text
    if not is_generic(head):
        return head.strip()
    return f"{tail.partition(',')[0].strip()} {head.strip()}"


def without_seniority(text: str) -> str:
    """Return the text without words of seniority at its ends, such as `senior` and `confirmé`."""
    while True:
        shorter = _AFTER.sub("", _BEFORE.sub("", text)).strip()
        if shorter == text or not shorter:
            return text
        text = shorter


def alternatives(title: str) -> Iterator[str]:
    """Return the parts of a title that names several occupations: `Recruiter / Personalreferent`."""
    parts = [part.strip(" ,-") for part in _SPLIT.split(core(title))]
    if len(parts) > 1:
        yield from (part for part in parts if len(title_key(part)) >= _SHORTEST and not is_generic(part))


# The seniority a title states, in the words of the people source.


class Seniority(StrEnum):
    """The closed set of levels (people source reference, section 12)."""

    UNPAID = "unpaid"
    TRAINING = "training"
    ENTRY = "entry"
    MANAGER = "manager"
    SENIOR = "senior"
    PARTNER = "partner"
    DIRECTOR = "director"
    VP = "vp"
    OWNER = "owner"
    CXO = "cxo"


_PHRASES: tuple[tuple[Seniority, str], ...] = (
    (Seniority.UNPAID, "volunteer|ehrenamt|ehrenamtlich|ehrenamtlicher|benevole|vrijwilliger|vrijwilligster"),
    (
        Seniority.TRAINING,
        "intern|internship|trainee|traineeship|apprentice|apprenticeship|working student|student"
        "|werkstudent|werkstudentin"
        "|praktikant|praktikantin|praktikum|pflichtpraktikum|azubi|auszubildende|auszubildender|auszubildenden|ausbildung"
        "|duales studium|dualer student|volontar|volontarin|volontariat|stagiaire|stage|alternant|alternante|alternance"
        "|apprenti|apprentie|apprentissage|leerling|jobstudent|stagiair|hogeschoolstudent|placement student|umschulung"
        "|bijbaan|studentenjob|referendar|schulerpraktikum",
    ),
    (
        Seniority.ENTRY,
        "junior|jr|entry level|graduate|debutant|debutante|starter|berufseinsteiger|berufseinsteigerin|absolvent"
        "|absolventin|quereinsteiger|newly qualified|schulabganger|jeune diplome|jeune diplomee|schoolverlater",
    ),
    (Seniority.MANAGER, "chief of staff"),
    (
        Seniority.OWNER,
        "owner and founder|business owner|shop owner|cofounder|founder|inhaber|inhaberin|grunder|grunderin"
        "|mitgrunder|fondateur|fondatrice"
        "|cofondateur|eigenaar|zaakvoerder|oprichter|proprietor",
    ),
    (
        Seniority.CXO,
        "ceo|cfo|cto|coo|cio|cmo|chro|cpo|ciso|cro|cdo|chief executive|chief executive officer|chief financial officer"
        "|chief technology officer|chief operating officer|chief information officer|chief marketing officer"
        "|chief product officer|chief people officer|chief human resources officer|chief commercial officer"
        "|chief revenue officer|chief medical officer|chief data officer|chief information security officer"
        "|geschaftsfuhrer|geschaftsfuhrerin|geschaftsfuhrung|vorstand|managing director|general manager|pdg"
        "|directeur general|directrice generale|algemeen directeur|president and ceo",
    ),
    (Seniority.VP, "vp|svp|evp|avp|vice president|vice presidente|senior vice president"),
    (
        Seniority.DIRECTOR,
        "director|direktor|direktorin|directeur|directrice|head of|bereichsleiter|bereichsleiterin|bereichsleitung"
        "|hauptabteilungsleiter|ressortleiter|responsable national|head",
    ),
    (Seniority.PARTNER, "managing partner|equity partner|senior partner|associate partner|law firm partner"),
    (Seniority.SENIOR, "senior|sr|sen|lead|principal|staff engineer|expert|confirme|confirmee|experimente|experimentee"
                       "|erfahrener|erfahrene|experienced|ervaren|staff software engineer|distinguished"),
    (
        Seniority.MANAGER,
        "manager|managerin|leiter|leiterin|leitung|teamleiter|teamleiterin|teamleitung|teamlead|teamleader|teamleider"
        "|gruppenleiter|gruppenleiterin|abteilungsleiter|abteilungsleiterin|abteilungsleitung|filialleiter|filialleiterin"
        "|schichtleiter|responsable|chef d equipe|chef de service|chef d atelier|chef de rayon|hoofd|diensthoofd"
        "|afdelingshoofd|ploegleider|leidinggevende|verantwoordelijke|supervisor|foreman|vorarbeiter|meister",
    ),
)  # fmt: skip
_BY_PHRASE = {phrase: level for level, phrases in reversed(_PHRASES) for phrase in phrases.split("|")}
_ORDER = tuple(phrase for _, phrases in _PHRASES for phrase in phrases.split("|"))
_FIRST_WORDS = frozenset(phrase.split(" ", 1)[0] for phrase in _ORDER)


def seniority(title: str) -> Seniority | None:
    """Return the level the words of a title state; null when they state none."""
    key = title_key(collapsed(title))
    if _FIRST_WORDS.isdisjoint(key.split()):
        return None
    return next((_BY_PHRASE[phrase] for phrase in _ORDER if key_contains(key, phrase)), None)


_RANKS = {
    Seniority.UNPAID: 0, Seniority.TRAINING: 0, Seniority.DIRECTOR: 2, Seniority.VP: 2, Seniority.PARTNER: 3,
    Seniority.OWNER: 3, Seniority.CXO: 3,
}  # fmt: skip
USUAL_RANK = 1
"""The rank of employees; `manager` in a title (product manager) need not mean that people report to its holder."""


def stated_rank(title: str) -> int | None:
    """Return the rank a title states: 0 learners, 1 employees and managers, 2 directors, 3 the top; null for none."""
    key = title_key(collapsed(title))
    level = seniority(title)
    if level is None or (key.startswith("head ") and not key.startswith("head of")):
        return None
    return _RANKS.get(level, USUAL_RANK)
