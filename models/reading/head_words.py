"""Words that name a kind of work: the head of a title in English, German, French and Dutch."""

import re
from functools import lru_cache

ENGLISH = """
accountant actuary adjuster administrator adviser advisor agent agronomist aide ambassador analyst anaesthetist
apprentice archaeologist architect archivist artist assembler assessor assistant associate astronomer attendant
attorney auditor author baker banker barber barista bartender biochemist biologist biostatistician bookkeeper
bricklayer broker builder butcher buyer captain caregiver caretaker carer caretaker carpenter cashier caterer
chaplain chauffeur chef chemist cleaner clerk clinician coach coder companion composer concierge conductor
conservator consultant controller cook coordinator co-ordinator copywriter counsel counsellor counselor courier
creator curator dealer dean deputy designer detective developer dietician dietitian director dispatcher diver doctor
draughtsman drafter driver economist editor educator electrician engineer engraver epidemiologist estimator examiner
executive expert fabricator facilitator farmer fellow fighter fisherman fitter foreman forester founder fundraiser
gardener generalist geographer geologist geophysicist geriatrician grader groomer guard guide hairdresser handler
handyman head headhunter host hostess housekeeper hydrologist hygienist illustrator inspector installer instructor
intern interpreter interviewer investigator janitor jeweller joiner journalist judge keeper labourer laborer lawyer
lead leader lecturer librarian lifeguard linguist machinist maid manager marketer marketeer mason massage masseur
mathematician mechanic mediator merchandiser meteorologist microbiologist midwife miner modeller moderator nanny
negotiator neurologist nurse nutritionist officer operative operator optician optometrist orderly organiser
organizer owner packer painter paralegal paramedic partner pathologist pastor pediatrician paediatrician pharmacist
phd philosopher phlebotomist photographer physician physicist physiologist physiotherapist picker pilot pipefitter
planner plasterer plumber podiatrist policeman politician porter postdoc practitioner president principal producer
professor programmer promoter prosthetist provider psychiatrist psychologist psychotherapist publisher radiographer
radiologist ranger realtor receptionist recruiter registrar reporter representative researcher retailer reviewer
rigger roofer sailor salesman salesperson scientist scrum secretary seller sergeant server shopper sociologist
solicitor sourcer specialist statistician steward stewardess stocker strategist student superintendent supervisor
supporter surgeon surveyor sre sdr bdr tailor teacher technician technologist teller tester therapist tiler
toolmaker trader trainee trainer transcriptionist translator treasurer trucker tutor underwriter upholsterer
veterinarian videographer volunteer waiter waitress warden watchmaker welder woodworker worker writer zoologist ceo
cfo cto coo cmo ciso cio cpo chro vp rn lpn cna stna hca gp bookbinder fundraiser evangelist champion crew
apprenticeship internship traineeship coordinator dev devs controller reservist beautician stylist tester chairman
hygienist planner purchaser doctoral doctorate postdoctoral expediter inspector scheduler sommelier toolmaker
storekeeper warehouseman salesman chairman tradesman craftsman repairman doorman serviceman fireman postman
hairstylist dba qa
"""
GERMAN = """
architekt architektin arzt ärztin assistent assistentin assistenz aushilfe buchhalter buchhalterin auszubildende
auszubildender azubi bäcker beamter beauftragte beauftragter berater beraterin bürokauffrau bürokaufmann chemikant
controller controllerin direktor disponent disponentin dozent einkäufer einkäuferin elektriker elektroniker
entwickler entwicklerin erzieher erzieherin experte expertin fachangestellte fachangestellter fachkraft fachfrau
fachmann fahrer fahrerin fachwirt florist friseur führungskraft gärtner geschäftsführer geselle gestalter
hausmeister hausverwalter hebamme helfer helferin hilfskraft informatiker informatikerin ingenieur ingenieurin
installateur installateurin juristin jurist kassierer kauffrau kaufleute kaufmann kellner kellnerin koch köchin
konstrukteur konstrukteurin koordinator koordinatorin kraftfahrer lagerist laborant laborantin lehrer lehrerin
leiter leiterin leitung lektor logistiker maler manager managerin maschinenführer mechaniker mechanikerin
mechatroniker mediengestalter meister meisterin mfa mitarbeiter mitarbeiterin mitarbeitende monteur notar
objektleiter pädagoge pädagogin personalreferent pfleger pflegefachfrau pflegefachmann pflegefachkraft pflegekraft
physiotherapeut planer praktikant praktikantin praktikum produktionshelfer programmierer prokurist prüfer psychologe
redakteur redakteurin referent referentin reinigungskraft rezeptionist sachbearbeiter sachbearbeiterin schlosser
schreiner schweißer sekretär sekretärin servicekraft sozialarbeiter sozialpädagoge spezialist spezialistin
staplerfahrer stellvertretung steuerberater steuerfachangestellte student studentin studierende techniker
technikerin therapeut therapeutin tischler trainer trainerin verkäufer verkäuferin vertreter vertriebler verwalter
volontär werkstudent werkstudentin werker wissenschaftler zerspaner zimmerer zimmermann zahnarzt dachdecker maurer
fliesenleger anlagenführer zusteller arbeiter arbeiterin anwalt anwältin
"""
FRENCH = """
acheteur acheteuse adjoint adjointe administrateur administratrice agent agente aide aide-soignant aide-soignante
ajusteur ambulancier analyste animateur animatrice apprenti apprentie architecte artisan assistant assistante
attaché attachée auxiliaire avocat avocate barman boucher bouchère boulanger boulangère caissier caissière cadre
câbleur carreleur carrossier chargé chargée charpentier chaudronnier chauffagiste chauffeur chef cheffe coffreur
coiffeur coiffeuse collaborateur collaboratrice commercial commerciale commis comptable concepteur conceptrice
concierge conducteur conductrice conseiller conseillère consultant consultante contremaître contrôleur contrôleuse
coordinateur coordinatrice coordonnateur couturier couturière couvreur cuisinier cuisinière data décorateur
dessinateur dessinatrice développeur développeuse directeur directrice économiste éducateur éducatrice électricien
électricienne électromécanicien employé employée encadrant enseignant enseignante ergonome ergothérapeute
esthéticienne expert experte façadier ferronnier fleuriste formateur formatrice forgeron fraiseur frigoriste gardien
gardienne géomètre gérant gestionnaire gouvernante gouvernant graphiste grutier guide horticulteur hôte hôtesse
infirmier infirmière informaticien ingénieur ingénieure inspecteur installateur instituteur intervenant intervenante
jardinier journaliste juriste kinésithérapeute livreur logisticien maçon magasinier magasinière maître manager
manoeuvre manœuvre manutentionnaire maraîcher marbrier mécanicien mécanicienne médecin médiateur menuisier
menuisière métallier métreur moniteur monitrice monteur monteuse négociateur notaire opérateur opératrice opticien
orthophoniste ouvrier ouvrière palefrenier paysagiste pâtissier pâtissière peintre pharmacien pharmacienne
photographe pilote pizzaiolo plaquiste plieur plombier plongeur poinçonneur poissonnier ponceur poseur préparateur
préparatrice professeur professeure programmeur projeteur psychologue puéricultrice réceptionniste rédacteur
rédactrice régleur responsable sage-femme secouriste secrétaire serrurier serveur serveuse soigneur soudeur soudeuse
stagiaire surveillant surveillante tapissier technicien technicienne technico-commercial télévendeur terrassier
testeur tourneur traducteur trésorier tuyauteur usineur vendangeur vendeur vendeuse vétérinaire veilleur viticulteur
webmaster alternant alternante
"""
DUTCH = """
aankoper adviseur afwerker ambtenaar analist apotheker arbeider architect arts assistent assistente autotechnieker
bakker barman bediende begeleider begeleidster beheerder beleidsmedewerker beveiliger beveiligingsagent bezorger
boekhouder boekhoudster bouwvakker buschauffeur calculator chauffeur chef coach consulent consultant coördinator
dakwerker deskundige dierenarts directeur docent doktersassistente elektricien elektromecanicien elektrotechnicus
fietsenmaker gids hovenier hulpkok hulpverlener huisarts ingenieur inkoper inpakker inspecteur installateur
instructeur jobstudent jurist kapper kapster kassier kassierster keukenhulp keukenmedewerker kinderverzorgster
kinesist kok kwaliteitscontroleur laborant lader landmeter lasser leerkracht leidinggevende leraar logopedist
machinist magazijnier magazijnmedewerker makelaar manager mecanicien medewerker medewerkster metselaar metser
monteur notaris onderhoudstechnieker onderwijzer onderzoeker ondersteuner ontwerper ontwikkelaar onthaalmedewerker
operator opvoeder orderpicker pijpfitter plaatser planner ploegbaas poetshulp postbode productiemedewerker
programmeur projectleider projectmanager psycholoog receptionist receptioniste recruteerder redacteur regisseur
salarisadministrateur schilder schoonmaker schrijnwerker secretaresse secretaris sociaal-verpleegkundige sollicitant
specialist stagiair stagiaire steigerbouwer stratenmaker student studentenjob technicus technieker tekenaar
teamleider teamlead terreinmedewerker timmerman toezichthouder traiteur tuinier tuinman uitvoerder vakman vakvrouw
verkoper verkoopster verpleegkundige vertaler vertegenwoordiger verzorgende vloerder voorman vrachtwagenchauffeur
werfleider werknemer werkvoorbereider wetenschapper winkelbediende zaakvoerder zorgkundige zorgverlener loodgieter
verzorger klusjesman poetsvrouw
"""
_INFLECTED = frozenset(f"{GERMAN} {DUTCH}".split())
WORDS = frozenset(f"{ENGLISH} {GERMAN} {FRENCH} {DUTCH}".split())
_ENDINGS_TEXT = """
leiter leiterin leitung berater beraterin entwickler entwicklerin ingenieur ingenieurin techniker technikerin
mechaniker mechanikerin mechatroniker elektroniker monteur mitarbeiter mitarbeiterin mitarbeitende kauffrau kaufmann
kaufleute fachkraft fachmann fachfrau kraft helfer helferin hilfe fahrer fahrerin führer führerin pfleger pflegerin
verkäufer verkäuferin einkäufer assistent assistentin assistenz assistenten referent referentin sachbearbeiter
manager managerin planer planerin prüfer prüferin meister meisterin lehrer lehrerin arzt ärztin therapeut
therapeutin berufler angestellte angestellter administrator koordinator konstrukteur spezialist spezialistin experte
expertin student studentin studenten praktikant praktikum volontär redakteur gestalter designer betreuer betreuerin
verwalter vertreter wirt arbeiter anwalt trainer trainerin schlosser bauer macher setzer leger decker schweißer
schleifer dreher fräser operator disponent controller analyst architekt informatiker programmierer pädagoge bediende
medewerker medewerkster begeleider technieker technicus leider leidster kundige werker bouwer verkoper ontwikkelaar
beheerder adviseur chauffeur assistente hulp consulent plaatser lasser marketeer verantwoordelijke coördinator
bewerker controleur inspecteur specialist deskundige verzorgende smith woman wright keeper maker
"""
ENDINGS = tuple(_ENDINGS_TEXT.split())
IRREGULAR = (("ives", "ife"), ("men", "man"), ("kräfte", "kraft"))
SHORTEST_STEM = 3
WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_NOT_WORK_TEXT = """
human german woman man command demand roman humans ottoman norman hermann workman hilfe leitung abteilungsleitung
lead head host server data aide partner cadre guide maître guard chef principal crew associate volunteer provider
owner founder qa scrum massage dean students employees
"""
NOT_WORK = frozenset(_NOT_WORK_TEXT.split())
"""Words of the lists that often mean something else; they count only where a title is expected."""


@lru_cache(maxsize=20_000)
def is_head_word(word: str) -> bool:
    """Whether the word names a kind of work, alone or as the last part of a compound; plural forms included."""
    low = word.lower()
    return any(_known(form) for form in _forms(low))


def _forms(low: str) -> tuple[str, ...]:
    forms = [low]
    if low.endswith("s"):
        forms.append(low[:-1])
    forms += [
        stem
        for stem in (low.removesuffix(many) + one for many, one in IRREGULAR if low.endswith(many))
        if _known(stem) and not (stem.endswith("man") and stem not in WORDS)
    ]
    if low.endswith("innen"):
        forms.append(low[:-3])
    forms += [stem for stem in (low.removesuffix("en"), low.removesuffix("n")) if stem != low and _inflects(stem)]
    return (*forms, *(form.rsplit("-", 1)[1] for form in forms if "-" in form))


def _inflects(stem: str) -> bool:
    """Whether a stem is a German or Dutch word for work; English and French ones take no `-en`."""
    return stem in _INFLECTED or stem.endswith(ENDINGS)


def _known(form: str) -> bool:
    if form in WORDS:
        return True
    if not form.endswith(ENDINGS):
        return False
    return any(form.endswith(ending) and len(form) >= len(ending) + SHORTEST_STEM for ending in ENDINGS)


def head_words(text: str) -> list[str]:
    """The words of a phrase that name a kind of work."""
    return [found.group() for found in WORD.finditer(text) if is_head_word(found.group())]


def names_work(text: str) -> bool:
    """Whether a phrase reads like a title: a word for work, or one of the doubtful ones where a head stands."""
    words = WORD.findall(text)
    for number, word in enumerate(words):
        if not is_head_word(word):
            continue
        low = word.lower()
        if low not in NOT_WORK and low.removesuffix("s") not in NOT_WORK:
            return True
        following = words[number + 1].lower() if number + 1 < len(words) else None
        if low in NOT_WORK and (following is None or following in {"of", "de", "d", "van", "der", "du"}):
            return True
    return False
