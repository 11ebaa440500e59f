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
fachmann fellow functionaris functionnaire fachberater fellowship first freelancer fuhrungskraft gerant gestionnaire graduate group hand head helfer
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


def is_generic(title: str) -> bool:
    """Whether no word of the title says which occupation it is."""
    return all(word in _GENERIC or word in _LINKS or word.isdigit() for word in title_key(title).split())
