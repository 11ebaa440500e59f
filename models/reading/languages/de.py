"""German: the words and phrases that readers look for."""

from models.reading.languages.language import (
    Cue,
    ExclusionWords,
    HeadingWords,
    Language,
    LeadIn,
    PlaceWords,
    ShortWords,
    SkillWords,
    SpokenWords,
    TitleWords,
    YearsWords,
    any_phrase,
)

# ruff: noqa: E501 - phrases that are read as one list


_ARTICLE = r"(?:(?:eine?[nrms]?|mehrere|unsere?[nr]?|zwei|\d{1,2})\b)"
_ASKING = any_phrase("suchen|sucht|suche|brauchen|verstärken|besetzen|stellen")
_CUT = "(?:eine?n?|eine[rms]|suchen|sucht|wir|dich|sie|unsere?n?|einem|(?:erfahrene|engagierte|motivierte)n)"

LANGUAGE = Language(
    code="de",
    small_words="""und die der in mit für wir von zu das auf du den im sie ist ein eine bei als zur deine oder sowie suchen
    nicht""",
    and_="und|sowie",
    or_=r"und/oder|oder|bzw\.?",
    headings=HeadingWords(
        required=r"""qualifikation(?:en)?|(?:(?:ihr|dein)\s)?profile?|anforderungen|stellenanforderungen
        |das bringst du(?:\sbereits)? mit|was du mitbring(?:st|en)|das bringen sie mit|deine? stärken|voraussetzungen""",
        nice=r"von vorteil|wünschenswert|idealerweise|das wäre (?:toll|super|schön)|bonus (?:\()?kein muss\)?",
        tasks=r"""(?:(?:deine|ihre)\s)?(?:aufgaben|tasks?|missions?)|was dich erwartet|das erwartet dich
        |stellenbeschreibung|jobbeschreibung|einleitung""",
        company="über (?:uns|.{2,40})|wir über uns|wer wir sind",
        offer=r"wir bieten|das bieten wir(?:\sdir)?|was wir bieten|unser angebot|vergütung|kontakt|bewerbung",
    ),
    titles=TitleWords(
        work="""
        architekt architektin arzt ärztin assistent assistentin assistenz aushilfe buchhalter buchhalterin auszubildende
        auszubildender azubi bäcker beamter beauftragte beauftragter berater beraterin bürokauffrau bürokaufmann
        chemikant controller controllerin direktor disponent disponentin dozent einkäufer einkäuferin elektriker
        elektroniker entwickler entwicklerin erzieher erzieherin experte expertin fachangestellte fachangestellter
        fachkraft fachfrau fachmann fahrer fahrerin fachwirt florist friseur führungskraft gärtner geschäftsführer
        geselle gestalter hausmeister hausverwalter hebamme helfer helferin hilfskraft informatiker informatikerin
        ingenieur ingenieurin installateur installateurin juristin jurist kassierer kauffrau kaufleute kaufmann
        kellner kellnerin koch köchin konstrukteur konstrukteurin koordinator koordinatorin kraftfahrer lagerist
        laborant laborantin lehrer lehrerin leiter leiterin leitung lektor logistiker maler manager managerin
        maschinenführer mechaniker mechanikerin mechatroniker mediengestalter meister meisterin mfa mitarbeiter
        mitarbeiterin mitarbeitende monteur notar objektleiter pädagoge pädagogin personalreferent pfleger
        pflegefachfrau pflegefachmann pflegefachkraft pflegekraft physiotherapeut planer praktikant praktikantin
        praktikum produktionshelfer programmierer prokurist prüfer psychologe redakteur redakteurin referent
        referentin reinigungskraft rezeptionist sachbearbeiter sachbearbeiterin schlosser schreiner schweißer sekretär
        sekretärin servicekraft sozialarbeiter sozialpädagoge spezialist spezialistin staplerfahrer stellvertretung
        steuerberater steuerfachangestellte student studentin studierende techniker technikerin therapeut therapeutin
        tischler trainer trainerin verkäufer verkäuferin vertreter vertriebler verwalter volontär werkstudent
        werkstudentin werker wissenschaftler zerspaner zimmerer zimmermann zahnarzt dachdecker maurer fliesenleger
        anlagenführer zusteller arbeiter arbeiterin anwalt anwältin
        """,
        work_endings="""leiter leiterin leitung berater beraterin entwickler entwicklerin ingenieur ingenieurin techniker
        technikerin mechaniker mechanikerin mechatroniker elektroniker monteur mitarbeiter mitarbeiterin mitarbeitende
        kauffrau kaufmann kaufleute fachkraft fachmann fachfrau kraft helfer helferin hilfe fahrer fahrerin führer führerin
        pfleger pflegerin verkäufer verkäuferin einkäufer assistent assistentin assistenz assistenten referent referentin
        sachbearbeiter managerin planer planerin prüfer prüferin meister meisterin lehrer lehrerin arzt ärztin therapeut
        therapeutin berufler angestellte angestellter koordinator konstrukteur spezialist spezialistin experte expertin
        student studentin studenten praktikant praktikum volontär redakteur gestalter betreuer betreuerin verwalter
        vertreter wirt arbeiter anwalt trainerin schlosser bauer macher setzer leger decker schweißer schleifer dreher
        fräser architekt informatiker programmierer pädagoge""",
        doubtful_work="hermann hilfe leitung abteilungsleitung",
        takes_en=True,
        capitalised_nouns=True,
        irregular_plurals=(("kräfte", "kraft"),),
        plurals=(
            (r"(?<=[^\W\d_]{4})innen$", "in"),
            (r"(?<=ent|ant|ist|org|oge)en?$", ""),
            (r"(?<=[^\W\d_]{4}e)n$", ""),
        ),
        prepositions="für|und",
        of="der",
        stops="""
        der die das den dem welche welcher mit für zur zum zu in im bei am an ab ist sind wir du sie dich unterstützen
        unterstützt bist übernimmst übernehmen gesucht auf aus von als verantworten verantwortest bringst bringen
        arbeitest arbeiten sorgst wirst werden kannst haben hast gestaltest betreust betreuen oder zwischen ihre unser
        unsere dein deine um beauftragt steuern steuerst leitest leiten planst planen vorzugsweise idealerweise
        welches nach durch ihr sein begleitest begleiten führst führen entwickelst entwickeln wenn dann hier damit
        sowie
        """,
        closing_pairs="in unserem|in unserer|in der|in einem|in einer|und du|und sie",
        glued="beauftragt|unterstützen|unterstützt|übernimmst|betreust|bist",
        lead_ins=(
            LeadIn(
                4.0,
                rf"\b(?i:{_ASKING})\b[^.!?\n]{{0,80}}?\b(?:als\b|{_ARTICLE}(?=\s|[\"„“*(])|eine?[nr]?(?=[A-ZÄÖÜ(]))",
            ),
            LeadIn(
                3.5,
                r"\b(?:Stelle|Position|Rolle|Funktion|Job|Suche|Aufgaben|Karriere)\s+(?:als|des|der|nach)\s*(?:eine?[nrms]?\b)?",
            ),
            LeadIn(3.0, r"\b[Aa]ls\s*(?:eine?[nr]?\s|unsere?[nr]?\s)?(?=\s*[\"„“*(]{0,3}[A-ZÄÖÜ(])"),
            LeadIn(2.5, r"\b(?i:(?:erfahrene|engagierte|motivierte|qualifizierte)n)\s*(?=[A-ZÄÖÜ])"),
            LeadIn(2.5, r"\b(?:Werde|Werden\s+Sie|Du\s+bist|Sie\s+sind)\s+(?:eine?\s)?(?=[A-ZÄÖÜ])"),
            LeadIn(3.5, r"\b(?i:verstärkung|gesucht|wir\s+suchen|suchen\s+wir)\s*:\s*"),
        ),
        announces_like="nl",
        cuts=rf"\b(?:[Aa]ls|(?i:{_CUT}))(?:\s|(?=[A-ZÄÖÜ(]))|(?<=[a-zäöüß])als\s(?=[A-ZÄÖÜ])",
        training=r"ausbildung|studium|berufserfahrung|erfahrung|abschluss|weiterbildung|z\.\s?b\.",
        sentence=r"wir|du|dein\w*|sie|uns\w*|dich|ist|sind|hast|wirst|such\w+|werde|freue|bieten",
        organisation="universität|hochschule|klinikum",
        label="jobtitel|titel|rolle|stelle(?:nbezeichnung)?|beruf",
        opening_label="jobtitel|titel|rolle|stellenangebot|stellenausschreibung|stelle|bezeichnung|beruf",
        announcement="stellenangebot|stellenanzeige|gesucht",
        suffix="gesucht",
        post="stelle|rolle",
        post_of=r"als\s",
        grade="stufe",
        other_label=r"""standort|beginn|arbeitszeit|einsatzort|arbeitsort|auslastung|dauer|ort|firma|unternehmen|datum|gehalt
        |region""",
        before_place="im raum|raum|um",
        working_time="""vollzeit teilzeit minijob befristet unbefristet ab sofort monate monat festanstellung und gn mwd""",
        gender_words="männlich|weiblich|divers|geschlechter|alle",
        all_genders=r"alle\s+geschlechter",
        double_forms=r"(?<=[a-zäöüß])\\?(?:[:*_]|/-?)in(?:nen)?\b|(?<=[a-zäöüß])Innen\b|(?<=[a-zäöüß])\((?:in|innen|r|n|en|e|m/w)\)",
    ),
    spoken=SpokenWords(
        names={
            "english": "englisch",
            "german": "deutsch",
            "french": "französisch",
            "dutch": "niederländisch flämisch",
            "spanish": "spanisch",
            "italian": "italienisch",
            "portuguese": "portugiesisch",
            "polish": "polnisch",
            "russian": "russisch",
            "ukrainian": "ukrainisch",
            "turkish": "türkisch",
            "arabic": "arabisch",
            "chinese": "chinesisch kantonesisch",
            "japanese": "japanisch",
            "korean": "koreanisch",
            "swedish": "schwedisch",
            "danish": "dänisch",
            "norwegian": "norwegisch",
            "finnish": "finnisch",
            "czech": "tschechisch",
            "slovak": "slowakisch",
            "hungarian": "ungarisch",
            "romanian": "rumänisch",
            "bulgarian": "bulgarisch",
            "greek": "griechisch",
            "croatian": "kroatisch",
            "serbian": "serbisch",
            "hebrew": "hebräisch",
            "persian": "persisch",
            "vietnamese": "vietnamesisch",
            "thai": "thailändisch",
            "luxembourgish": "luxemburgisch",
            "catalan": "katalanisch",
            "welsh": "walisisch",
            "sign language": "gebärdensprache",
        },
        tail=r"kenntnisse?n?|sprach\w*",
        level=r"muttersprach\w*|verhandlungssicher\w*|fließend\w*",
        cue=r"kenntnis\w*|sprach\w*|sprich\w*|sprechen|wort und schrift|schriftlich|kommunizier\w+",
        goes_on=r"und\b|oder\b",
        of_others=r"\w+sprachige[nrms] [A-ZÄÖÜ]",
        welcome="von vorteil|vorteilhaft|wünschenswert|idealerweise|gerne|wäre",
        ideally="idealerweise|idealiter|gerne",
        no=r"kein\w*|nicht",
        not_="nicht",
        needed="erforderlich|nötig|notwendig",
        required="erforderlich|zwingend|notwendig",
        is_="ist|sind",
    ),
    years=YearsWords(
        numbers="ein zwei drei vier fünf sechs sieben acht neun zehn",
        ones="eine einem",
        years="jahren?|jahre",
        months="monaten?|monate",
        or_more=r"oder\s+mehr",
        until="bis",
        compound=r"jährige[nrms]?\s+(?:\w+\s+){0,2}\w*(?:erfahrung|praxis|tätigkeit)",
        reader="sie|du|bewerber",
        experience="erfahrung|praxis|tätigkeit",
        experience_noun=r"erfahrung\w*|praxis",
        experience_link=r"von|mind\w*\.?",
        asked=r"mind\.?|mindestens|mehr als|über|ab|du hast|sie (?:haben|bringen|verfügen)",
        not_before=r"""\bseit(?:\s\w+){0,2}|\b(?:letzten|nächsten|ersten|vergangenen)|\bvor(?:\s\w+)?|\balle|\bnach
        |\b(?:vertrag|befristet|laufzeit|garantie|studium)\W+(?:\w+\W+){0,3}?|\bgegründet""",
        not_after=r"""alt\b|garantie|vertrag|studium|lehre\b|ausbildung|befristet|unternehmensgeschichte|am markt
        |erfolgreich""",
        boast=r"""wir (?:haben|sind|verfügen|blicken|bieten|können|stehen)|unser(?:e|em|er)? (?:team|unternehmen|firma)
        |gemeinsam|familienunternehmen|unternehmen mit""",
        secondary="inclusive|davon",
        at_most="bis zu|weniger als|höchstens",
        short_at_most=r"bis zu\s",
        short_at_least=r"mind\.?\s|ab\s|mindestens\s",
        short_years="jahren?|jahre|j",
        short_experience="erfahrung|berufserfahrung",
        short_of=r"an\s",
        short_not="alt",
    ),
    skills=SkillWords(
        example_before=r"z\.?\s?b\.?|zum beispiel|beispielsweise|wie|etwa|eine[rs]? der",
        example_after=r"oder (?:ähnlich|vergleichbar|einer ander)\w*|o\.\s?ä",
        denied=r"kein\w*|ohne|nicht",
        little=r"grundkenntnis\w*|grundlegend\w*|erste|interess\w+|bereitschaft",
        firm=r"""zwingend|erforderlich|vorausgesetzt|fundierte\w*|sehr gute\w*|ausgeprägte\w*|tiefgehende\w*
        |mehrjährige\w*|sichere\w*""",
        around="kenntnisse",
    ),
    exclusions=ExclusionWords(
        not_=r"kein(?:e[nrms]?)?|ohne|nicht(?:\s(?:in|aus|bei|von))?|außer",
        also_not="keine?",
        needed="erforderlich|nötig|notwendig",
        agencies=r"""agentur(?:en)?|personaldienstleister\w*|zeitarbeit\w*|leiharbeit\w*|personalvermitt\w+|konzerne?
        |wettbewerber""",
        no_agencies=r"keine (?:personaldienstleister\w*|personalvermittl\w+|headhunter|zeitarbeit\w*)",
        no_freelancers="keine (?:freelancers?|freiberufler|contractors)",
        freelance=r"freiberuf\w*|selbstständig\w*|selbständig\w*",
        levels="berufseinsteiger",
        remote=r"remote[-\s]möglich|mobiles arbeiten|vor ort",
    ),
    short=ShortWords(
        greeting="hallo|bitte",
        asker="wir|ich",
        wish="möchten?",
        asking="suchen?|gesucht:?|brauchen?|finde",
        asked="wir|nach",
        joiners="mit",
        edges="""im bei nahe um raum aus der die das von und oder mit umkreis erfahrung jahre profil personen bitte gesucht
        sprechen spricht mehrere ein eine einen zwei drei""",
    ),
    places=PlaceWords(
        noise="""raum großraum grossraum umgebung und um bei nahe nähe kilometer tage tag woche die pro vollzeit teilzeit
        stadt zentrum innenstadt nord süd ost norden süden mit kreis landkreis kanton land möglich ort standort standorte
        einsatzort arbeitsort ab mitte deutschlandweit bundesweit reisen""",
        label=r"""(?:einsatz|arbeits|dienst|firmen|beschäftigungs|tätigkeits)?(?:ort|standort|orte|standorte)|arbeitsplatz
        |einsatzgebiet|adresse|ort der tätigkeit""",
        label_alone="(?:einsatz|arbeits|dienst)ort|standort|ort",
        workplace_before=r"""(?:am|im|an|für|unser\w*|den|dem|der|ein\w*|deutsch\w*|neu\w*)\s(?:[\w-]+\s){0,2}?(?:standort|büro|office|werk|niederlassung|filiale|zentrale|hauptsitz|headquarter|team|praxis|klinik|markt|betrieb|store|hotel|haus|restaurant|schule|kita|apotheke|bäckerei|kanzlei|geschäftsstelle|region|raum|großraum|innenstadt|lager|logistikzentrum|produktionsstandort|hauptverwaltung)(?:s|n|en)?(?:\s(?:in|bei|im|am|nahe|an der))?
        |(?:standort|büro|office|niederlassung|filiale|zentrale|team|arbeitsplatz|einsatzort|dienstsitz|arbeitsort)\s(?:in|bei|ist|im)
        |(?:im\s)?(?:raum|großraum|grossraum|ballungsraum|landkreis|region)|(?:im\s)?herzen\svon|(?:the\s)?heart\sof|c(?:oe|œ)ur\s(?:de|d['’])|hart\svan|rund\sum|in\sder\snähe\svon|nähe|in\sund\sum|umkreis\svon(?:\s\d+\skm\sum)?|vor\sort\sin|kunde\s(?:in|aus|im\sraum)|unternehmen\s(?:in|aus|im\sraum)|partnerunternehmen\sin|mandant\w*\s(?:in|aus|im\sraum)|auftraggeber\s(?:in|aus|im\sraum)|sucht\sin|suchen\s(?:wir\s)?(?:\w+\s){0,3}in|arbeitest\sin|tätig\sin|einsatz\sin""",
        workplace_article=r"stadt|raum|schönen",
        workplace_after=r"\s(?:und|&)\sUmgebung\b|er\s(?:Büro|Office|Standort|Headquarter)",
        our="unser|unserem|unseren",
        office="Büro|Standort",
        seat_before=r"""(?:büros|standorte|standorten|niederlassungen|filialen)\s(?:in|u\.a\. in|unter anderem in)
        |(?:haupt)?sitz\s(?:in|ist)|mit\ssitz\sin|ansässig\sin|gegründet\sin|unternehmen\saus|firma\saus""",
        mention_before="im|bei|zu|nach",
        title_before="im|im raum|raum|großraum|bei|standort|nähe",
        title_article="",
        title_after="gesucht",
        elsewhere_before=r"reisen\s(?:nach|in)|dienstreisen\s(?:nach|in)|kunden\s(?:in|aus)|studium\sin|messe\sin",
        organisation_before="universität|institut|stadt|hochschule|klinikum|uni|tu|fh",
        organisation_of="von|zu|der",
        organisation_after="Universität|Gruppe",
        city_adjective=r"er[\s-](?:Büro|Office|Standort|Headquarter|Zentrale|Niederlassung|Innenstadt|Raum|Hafen|Team|Werk|Filiale|Hauptsitz|Umland|Stadtteil)\w*",
        within=r"innerhalb(?:\svon)?|im umkreis von|umkreis(?:\svon)?",
        radius="umkreis",
        around="um|von|rund um",
        within_article="",
        within_after="im umkreis von|umkreis",
        asked_before=r"""(?:mit sitz|wohnhaft|ansässig)\sin|im|bei|aus|um|rund um|nähe|in der nähe von|raum|im raum|großraum
        |im großraum|region|nahe|umkreis|umkreis von|im umkreis von|von""",
        asked_article="",
        not_before="ohne|außer|ausser|nicht|kein|keine|ausgenommen",
        not_link="aus|bei|im|in der nähe von",
        country_weights={"DE": 2.0, "AT": 0.4, "CH": 0.4},
        cues=(
            Cue(
                "DE",
                3.0,
                r"Deutschlandticket|Jobrad|Minijob|VL|vermögenswirksame|betriebliche Altersvorsorge|bAV|Schwerbehindert\w*|TVöD|TV-L|Tarifvertrag|Wellpass|Urban Sports|Werkstudent\w*|duales Studium|Azubi\w*|IHK|Meister|Abitur|Bundesland|deutschlandweit|bundesweit|Weihnachtsgeld|Urlaubsgeld|Elternzeit",
            ),
            Cue(
                "AT",
                4.0,
                r"Kollektivvertrag\w*|Überzahlung|Österreich\w*|Matura|Präsenzdienst|Zivildienst|HTL|HAK|14[- ]?mal|Monatsbruttogehalt|Klimaticket|Jahresbruttogehalt|Pendlerpauschale|Bruttomonats\w+",
            ),
        ),
    ),
)
