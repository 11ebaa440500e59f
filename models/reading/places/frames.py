"""What around a name says that it is the place of work: labels, header lines, titles, addresses, prepositions."""

# ruff: noqa: E501 - patterns of alternatives
import re
from enum import IntEnum

from models.reading.document import any_phrase


class Strength(IntEnum):
    """How surely a stretch names the place of work; the strongest that names a city decides."""

    HEADER = 90
    LABEL = 85
    TITLE = 80
    WORKPLACE = 60
    QUALIFIED = 55
    ADDRESS = 50
    SEAT = 35
    MENTION = 25


LABEL = re.compile(
    r"^[^\w\n]*"
    + any_phrase(
        r"""(?:job|work|working|office|primary|base)?\s?locations?|where(?:\swe['’]re|\swe are)?|office|place of work|duty station
        |work(?:\s|-)?site|workplace|city|based|(?:einsatz|arbeits|dienst|firmen|beschäftigungs|tätigkeits)?(?:ort|standort|orte|standorte)
        |arbeitsplatz|einsatzgebiet|region|lieu(?:x)?(?:\sde\stravail|\sdu poste|\sde mission|\sd['’]exercice|\sd['’]affectation)?
        |localisation|localité|poste basé|ville|site|secteur|affectation|(?:werk|stand|vestigings)?plaats(?:\svan tewerkstelling)?
        |plaats tewerkstelling|tewerkstellingsplaats|(?:werk)?locatie|regio|werkplek|stad|adres|adresse|address|ort der tätigkeit"""
    )
    + r"(?:\(s\)|/[a-z]+)?[ \t]*[*_]*[ \t]*(?::|–|—|-(?=[ \t]?\w)|\|)[ \t*_]*(?P<value>[^\n]+)$",
    re.IGNORECASE | re.MULTILINE,
)
"""A label with its value on the same line."""

LABEL_ALONE = re.compile(
    r"^[^\w\n]*"
    + any_phrase(
        r"""(?:job|work|office)?\s?locations?|place of work|(?:einsatz|arbeits|dienst)ort|standort|lieu(?:\sde travail|\sdu poste)?
        |localisation|(?:werk|stand)plaats|plaats tewerkstelling|(?:werk)?locatie|ort"""
    )
    + r"[ \t]*[*_:]*[ \t]*\n\s*(?P<value>[^\n]+)$",
    re.IGNORECASE | re.MULTILINE,
)
"""A label that is a line of its own, its value on the next."""

WORKPLACE_BEFORE = re.compile(
    any_phrase(
        r"""(?:based|located|situated|work|working|working on[ -]?site|on[ -]?site|role|position|job|opportunity|vacancy|team|teams|live|living|reside|residing)\s(?:is\s|are\s|be\s)?(?:based\s|located\s)?(?:in|at|out of|near|around|from)
        |(?:our|the|its|their|an?|new)\s(?:[\w-]+\s){0,3}?(?:office|site|facility|headquarters|hq|hub|studio|branch|plant|store|campus|clinic|practice|warehouse|location|lab)\s(?:is\s|are\s)?(?:located\s|based\s)?(?:in|at|near|outside)
        |join\sus\s(?:in|at)|relocat\w+\sto|commut\w+\s(?:to|from)|commutable\s(?:to|from|distance of)|within\s\d+\s?(?:km|kms|kilometers|kilometres|miles|mi)\s(?:of|from)
        |(?:am|im|an|für|unser\w*|den|dem|der|ein\w*|deutsch\w*|neu\w*)\s(?:[\w-]+\s){0,2}?(?:standort|büro|office|werk|niederlassung|filiale|zentrale|hauptsitz|headquarter|team|praxis|klinik|markt|betrieb|store|hotel|haus|restaurant|schule|kita|apotheke|bäckerei|kanzlei|geschäftsstelle|region|raum|großraum|innenstadt|lager|logistikzentrum|produktionsstandort|hauptverwaltung)(?:s|n|en)?(?:\s(?:in|bei|im|am|nahe|an der))?
        |(?:standort|büro|office|niederlassung|filiale|zentrale|team|arbeitsplatz|einsatzort|dienstsitz|arbeitsort)\s(?:in|bei|ist|im)
        |(?:im\s)?(?:raum|großraum|grossraum|ballungsraum|landkreis|region)|(?:im\s)?herzen\svon|(?:the\s)?heart\sof|c(?:oe|œ)ur\s(?:de|d['’])|hart\svan|rund\sum|in\sder\snähe\svon|nähe|in\sund\sum|umkreis\svon(?:\s\d+\skm\sum)?|vor\sort\sin|kunde\s(?:in|aus|im\sraum)|unternehmen\s(?:in|aus|im\sraum)|partnerunternehmen\sin|mandant\w*\s(?:in|aus|im\sraum)|auftraggeber\s(?:in|aus|im\sraum)|sucht\sin|suchen\s(?:wir\s)?(?:\w+\s){0,3}in|arbeitest\sin|tätig\sin|einsatz\sin
        |(?:bas[ée]e?s?(?:\(e\)s?)?|situ[ée]e?s?(?:\(e\)s?)?|implantée?s?|localisée?s?|installée?s?)\s(?:à|a|au|aux|en|sur|près de|proche de|dans la région de|dans la ville de|dans le secteur de|dans|vers)
        |(?:poste|mission|emploi|travail|entreprise|client|société|boutique|restaurant|magasin|établissement|association|hôpital|clinique|crèche|école|usine|atelier)\s(?:est\s|sera\s)?(?:basée?\s|situ[ée]e?\s)?(?:à|a|au|sur|de|près de|proche de)
        |(?:notre|nos|son|sa|ses|leur|un|une|le|la|du|pour son|pour notre|pour le)\s(?:[\w'’-]+\s){0,2}?(?:agence|site|bureau|bureaux|établissement|magasin|boutique|restaurant|usine|centre|siège|antenne|équipe)\s(?:de|d['’]|à|sur|en)
        |(?:sur|pour)\s(?:le\s|les\s)?secteurs?\s(?:de|d['’]|du)|secteur\s(?:de\s|d['’])?|bassin\s(?:de|d['’])|région\s(?:de|d['’])|dans\sla\srégion\s(?:de|d['’])|à\sproximité\s(?:de|d['’])|près\s(?:de|d['’])|proche\s(?:de|d['’])?|proximité\s(?:de\s)?|autour\s(?:de|d['’])|aux\salentours\s(?:de|d['’])|alentours\s(?:de|d['’])|commune\sde|ville\sde
        |(?:gevestigd|gelegen|gesitueerd|werkzaam|actief|tewerkgesteld|gelocaliseerd)\s(?:in|te|nabij|rond|bij)
        |(?:ons|onze|het|de|een|hun|zijn)\s(?:[\w-]+\s){0,2}?(?:kantoor|vestiging|site|filiaal|winkel|team|restaurant|hotel|school|praktijk|bakkerij|apotheek|hoofdkantoor|atelier|werkplaats|magazijn|hoofdzetel|zetel|locatie|afdeling|campus|ziekenhuis|fabriek|productiesite)\s(?:is\s)?(?:gelegen\s|gevestigd\s)?(?:in|te|van|bij|nabij)
        |(?:kantoor|vestiging|filiaal|winkel|site|werkplek|standplaats|locatie|bedrijf|klant|firma|tewerkstelling)\s(?:in|te|is|uit|regio|nabij)|(?:de\s|in\s)?(?:regio|omgeving|omstreken)(?:\svan)?|klant\w*\s(?:in|te|uit|regio)|bedrijf\s(?:in|te|uit)|nabij|in\sde\sbuurt\svan|rond(?:om)?|vanuit(?:\sons\skantoor\sin)?"""
    )
    + r"[\s\u00a0]+(?:the\s|de\s|la\s|le\s|les\s|l['’]|city\sof\s|greater\s|downtown\s|central\s|heart\sof\s|stadt\s|ville\sde\s|regio\s|raum\s|sunny\s|beautiful\s|schönen\s)?$"
    + r"|(?:d['’]|l['’])$",
    re.IGNORECASE,
)
WORKPLACE_AFTER = re.compile(
    r"[- ]based\b|\s(?:area|metro(?:politan)?(?:\sarea)?|region|office|offices|hq|headquarters?|hub|studio|campus|branch|site|team|location)\b"
    r"|\s(?:und|&)\sUmgebung\b|\sou\senvirons\b|\set\s(?:ses\s)?(?:alentours|environs)\b|\sen\s(?:omgeving|omstreken)\b|er\s(?:Büro|Office|Standort|Headquarter)",
    re.IGNORECASE,
)
WITHIN = re.compile(
    r"(?:within|innerhalb(?:\svon)?|im umkreis von|umkreis(?:\svon)?|dans un rayon de|rayon de|à moins de|binnen(?:\seen straal van)?|straal van|max\.?|up to|~)?\s*"
    r"(?P<number>\d{1,3})\s?(?P<unit>km|kms|kilomet(?:er|re)s?|kilometern?|miles?|mi)\b\s*(?:radius|umkreis|straal|rayon|commute|drive)?\s*"
    r"(?:of|from|around|um|von|de|d['’]|autour de|rond(?:om)?|van|rund um)?\s*(?:the\s|de\s|la\s)?$",
    re.IGNORECASE,
)
WITHIN_AFTER = re.compile(
    r"\s*[,(+]?\s*(?:and\s|und\s|et\s|en\s|within\s|im\sumkreis\svon\s|umkreis\s|rayon\s(?:de\s)?|straal\s(?:van\s)?|\+/?-?\s?)?(?:up to\s|max\.?\s|ca\.?\s)?"
    r"(?P<number>\d{1,3})\s?(?P<unit>km|kms|kilomet(?:er|re)s?|kilometern?|miles?|mi)\b",
    re.IGNORECASE,
)
OUR_BEFORE = re.compile(r"(?<!\w)(?:our|the|unser|unserem|unseren|ons|onze)\s(?:new\s|growing\s)?$", re.IGNORECASE)
OFFICE_AFTER = re.compile(
    r"[ -](?:office|hub|studio|site|campus|team|branch|HQ|headquarters?|kantoor|vestiging|Büro|Standort)\b",
    re.IGNORECASE,
)
LIST_GAP = re.compile(r"\s?,\s?(?:and |und |et |en |or |oder )?|\s(?:and|und|et|en|or|oder|ou|of|sowie|&)\s|\s?/\s?")
SEAT_BEFORE = re.compile(
    any_phrase(
        r"""(?:offices|locations|sites|hubs|branches|presence|büros|standorte|standorten|niederlassungen|filialen
        |bureaux|agences|sites|implantations|kantoren|vestigingen|filialen)\s(?:are\s|is\s)?(?:located\s)?(?:in|à|a|te|at|across|including|u\.a\. in|unter anderem in)
        |headquartered\s(?:in|at)|headquarters?\s(?:in|at)|hq\s(?:in|at)|founded\sin|(?:haupt)?sitz\s(?:in|ist)|mit\ssitz\sin|ansässig\sin|gegründet\sin|unternehmen\saus|firma\saus
        |siège(?:\ssocial)?\s(?:est\s)?(?:basé\s)?(?:à|de)|dont\sle\ssiège\s(?:est\s)?à|agence\s(?:[\w'’-]+\s){0,2}?(?:de|d['’])|hoofd(?:kantoor|zetel)\s(?:in|te|is)|company\s(?:in|from)|start-?up\s(?:in|from)|firm\sin"""
    )
    + r"[\s\u00a0]+(?:the\s)?$",
    re.IGNORECASE,
)
MENTION_BEFORE = re.compile(r"(?:^|[^\w])(?:in|im|à|a|te|bei|near|en|zu|nach)[ \u00a0]+(?:the\s)?$", re.IGNORECASE)
TITLE_BEFORE = re.compile(
    r"(?:^|[^\w])(?:in|im|im raum|raum|großraum|bei|near|at|à|a|au|aux|te|regio|sur|pour|secteur|région|for|voor|@|standort|based in|basé à|gevestigd in|nähe)[ \u00a0]+(?:the\s|de\s|d['’]|la\s|le\s|l['’])?$",
    re.IGNORECASE,
)
TITLE_AFTER = re.compile(
    r"\s*(?:$|[-–—|,;()/\[]|\b(?:und|en|et|and|area|gesucht|f/m|m/f|m/w|w/m|h/f|f/h|m/v)\b)", re.IGNORECASE
)
ELSEWHERE_BEFORE = re.compile(
    any_phrase(
        r"""travel(?:ling|ing|s)?\s(?:to|in|between)|trips\sto|reisen\s(?:nach|in)|dienstreisen\s(?:nach|in)|déplacements?\s(?:[\w-]+\s){0,2}?(?:à|a|en|sur|vers)|verplaatsingen\s(?:naar|in)
        |studied\s(?:in|at)|graduated\sfrom|degree\sfrom|investors\s(?:are\s)?(?:based\s)?in|born\sin|colleagues\s(?:in|from)|teams\s(?:in|across)|like\s(?:in|at)|customers\s(?:in|from)
        |kunden\s(?:in|aus)|studium\sin|messe\sin|clients\s(?:à|en)|klanten\s(?:in|uit)|customers\slike"""
    )
    + r"[\s\u00a0]+$",
    re.IGNORECASE,
)
ORGANISATION_BEFORE = re.compile(
    r"(?:university|universität|université|universiteit|college|hospital|school|bank|institute|institut|city|county|ville|stadt|agence|agency|banque|hochschule|klinikum|town|port|state|council|museum|mairie|diocese|royal|uni|tu|fh)\s(?:of|de|von|van|d['’]|zu|der)?\s*$",
    re.IGNORECASE,
)
ORGANISATION_AFTER = re.compile(
    r"\s?(?:[A-Z][\w&'-]*\s){0,2}?(?:University|Universität|Hospital|Hospitals|College|Health|Healthcare|Trust|GmbH|AG|SE|Ltd|Limited|Inc|LLC|Group|Gruppe|Bank|School|Institute|Airlines|Stock|Times|Marathon|Business School|Fair Chance|Ordinance|County|Council|Code|Act|Law)\b"
)
POSTAL_BEFORE = re.compile(
    r"(?:^|[^\w€$£.,-])(?:(?P<prefix>D|A|CH|B|F|L|NL|FL)-)?(?P<code>\d{4,5}|\d{4} ?[A-Z]{2}),?[ \u00a0]+$"
)
POSTAL_COUNTRIES = {
    4: frozenset({"AT", "BE", "CH", "LU", "DK", "NO", "LI"}),
    5: frozenset({"DE", "FR", "ES", "IT", "FI"}),
    6: frozenset({"NL"}),
}
PREFIX_COUNTRIES = {"D": "DE", "A": "AT", "CH": "CH", "B": "BE", "F": "FR", "L": "LU", "NL": "NL", "FL": "LI"}
STATE_AFTER = re.compile(r"(?:,\s?|\s?[-–]\s|\s\(|\s)(?P<code>[A-Z]{2,3})\b(?:\s\d{5}\b)?")
POSTAL_GB_AFTER = re.compile(r",?\s*[A-Z]{1,2}\d[A-Z\d]?\s*\d[A-Z]{2}\b")
AREA_GAP = re.compile(r"\s?,\s|\s\(|\s[-–]\s|,")
GERMAN_ADJECTIVE = re.compile(
    r"\b(?P<city>[A-ZÄÖÜ][\w-]{2,25}?)er[\s-](?:Büro|Office|Standort|Headquarter|Zentrale|Niederlassung|Innenstadt|Raum|Hafen|Team|Werk|Filiale|Hauptsitz|Umland|Stadtteil)\w*"
)
