"""The seniority a title states, in the words of the people source."""

from enum import StrEnum

from models.rules.titles.cleaning import collapsed
from models.rules.titles.keys import contains, title_key


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
    """The level the words of a title state; null when they state none."""
    key = title_key(collapsed(title))
    if _FIRST_WORDS.isdisjoint(key.split()):
        return None
    return next((_BY_PHRASE[phrase] for phrase in _ORDER if contains(key, phrase)), None)
