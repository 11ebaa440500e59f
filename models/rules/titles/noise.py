"""The patterns of what advertisements add to a title: gender marks, contract, hours, pay, levels, places."""

import re

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
