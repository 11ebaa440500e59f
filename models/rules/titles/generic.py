"""Words that name no occupation by themselves: never searched for alone."""

from models.rules.titles.keys import title_key

_GENERIC_WORDS = """
administrator agent analist analyst analyste angestellte angestellter apprenti apprentie aide arbeiter arbeider
architect architekt architecte assistance assistant assistante assistent assistentin assistenz associate aushilfe
auszubildende auszubildender azubi aushilfskraft bediende beambte beauftragte beauftragter begeleider berater
beraterin besoin betreuer career careers cadre chef chief clerk collaborateur collaboratrice conseiller conseillere
consultant consultante contractor coordinateur coordinatrice coordinator deputy designer developer developpeur
developpeuse directeur director directrice direktor direktorin dienst duales einsteiger employe employee
engineer entwickler entwicklerin executive expert experte experten expertin fachkraft fachkrafte
fachmann fellow functionaris functionnaire fachberater fellowship first freelancer fuhrungskraft
gerant gestionnaire graduate group hand head helfer
helferin help hilfskraft hire hoofd ingenieur ingenieurin ingenieure inspector intern internship interim jobstudent
junior koordinator koordinatorin kraft leader lead leider leiter leiterin leitung local lokal manager managerin
management medewerker medewerkster member meister meisterin mitarbeitende mitarbeitender mitarbeiter mitarbeiterin
monteur officer ontwikkelaar operateur operator operatrice ouvrier ouvriere owner partner person personal
personnel personeel position praktikant praktikantin praktikum president professional programme program
projekt project projet quereinsteiger raadgever referent referentin regional responsable sachbearbeiter
sachbearbeiterin secretary senior service spezialist spezialistin specialist specialiste specialisten staff stage
stagiair stagiaire starter student studentin studium supervisor support talent talents teamleiter teamleiterin
teamlead teamleader teamleider team technicien technicienne technician techniker technikerin technieker technicus
trainee trainer tutor verantwoordelijke verantwortliche verantwortlicher vice volunteer volontar werknemer
werkstudent werkstudentin worker working hogeschoolstudent alternant alternante alternance vp svp evp sr jr sen jun
adjoint adjointe stellvertretende stellvertretender stv hauptamtlich erfahrene erfahrener experienced qualified
medior confirme debutant principal candidate candidat candidato kandidat
"""
_GENERIC = frozenset(_GENERIC_WORDS.split())
_LINKS = frozenset(
    {"and", "of", "de", "du", "des", "la", "le", "l", "d", "the", "a", "in", "im", "or", "oder", "ou", "level"}
)


_TELLING_PHRASES = """
project manager|project managerin|project leader|project lead|project director|project coordinator|project officer
project management|project engineer|project administrator|project assistant|project analyst|project architect
projekt ingenieur|ingenieur projet|chef de projet|responsable de projet|directeur de projet|directrice de projet
coordinateur de projet|coordinatrice de projet|gestionnaire de projet|assistant de projet|assistante de projet
program manager|programme manager|program managerin|program director|programme director|chef de programme
directeur de programme|directrice de programme|responsable de programme|management consultant|management berater
management beraterin|consultant and management|personal trainer|personal assistant|executive assistant
executive assistentin|executive secretary|management assistant|management assistent|management assistentin
team assistant|chief of staff|service designer|designer de service|level designer|stage designer|stage manager
stage technician|head chef|executive chef|service technician|service techniker|technicien de service
technicienne de service|service engineer|service ingenieur|support engineer|support ingenieur|support techniker
ingenieur support|ingenieure support|technicien support|technicienne support|support worker|talent partner
talent manager|personnel manager|l and d manager|l and d specialist|l and d partner|volunteer coordinator
volunteer manager|partner manager|first officer|vice principal|assistant principal|deputy principal
chief architect|chief executive|chief engineer|interim manager|service coordinator
""".strip().replace("\n", "|")
_TELLING = tuple(f" {phrase} " for phrase in _TELLING_PHRASES.split("|"))
"""What names an occupation although each of its words alone does not."""


def is_generic(title: str) -> bool:
    """Whether the words of the title leave open which occupation it is."""
    key = title_key(title)
    if not all(word in _GENERIC or word in _LINKS or word.isdigit() for word in key.split()):
        return False
    return not any(phrase in f" {key} " for phrase in _TELLING)
