"""Words that stand beside places without naming one: working from home, working time, points of the compass."""

import re

from models.rules.places import place_key

NOISE = frozenset(
    place_key(word)
    for word in """
    remote remotely hybrid hybride onsite on-site on site office offices in at the of and or area areas greater region
    région regio raum großraum grossraum umgebung und um near bei nahe nähe km kilometer miles day days week weeks wk w
    x per fully full part time only based hq headquarters head home homeoffice work working from wfh vollzeit teilzeit
    cet cest est pst edt pdt utc gmt bst timezone timezones zone optional flexible first up to tage tag woche die pro
    jours jour semaine par télétravail partiel complet dagen dag thuiswerk thuiswerken city stadt ville centre center
    zentrum innenstadt downtown metro metropolitan north south east west northern southern central nord süd ost norden
    süden noord zuid oost est ouest sud cedex arrondissement locations location multiple various plus mit avec with ou
    à a au de du des la le les l d près environs alentours secteur département dept county state province provincie
    kreis landkreis kanton canton land possible möglich option options anywhere all within also jobs lieu ort standort
    standorte einsatzort arbeitsort plaats locatie omgeving rond rondom te vanuit ab ca circa approximately max min
    we us eu permanent temporary contract full-time part-time fulltime parttime voltijds deeltijds cdi cdd h f m d v
    centrum périphérie agglomération agglo banlieue couronne binnenstad omstreken périphérie regio mitte
    type role job position deutschlandweit bundesweit nationwide emea travel reisen
    """.split()  # noqa: SIM905 - words read best as words
    for word in word.split("-")
)
NUMBER = re.compile(r"\d+\w?|[xX]\d+")
REMOTE = re.compile(r"\b(?:remote|home[ -]?office|télétravail|thuiswerk\w*|wfh|work from home)\b", re.IGNORECASE)


def is_noise(part: str) -> bool:
    """Whether a stretch holds nothing but such words and numbers."""
    return all(word in NOISE or NUMBER.fullmatch(word) for word in place_key(part).split())


def without_noise(part: str) -> str:
    """The stretch without such words, as a key."""
    return " ".join(word for word in place_key(part).split() if word not in NOISE)
