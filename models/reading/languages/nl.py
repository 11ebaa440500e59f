"""Dutch: the words and phrases that readers look for."""

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


_ARTICLE = r"(?:(?:een|onze|\d{1,2}|enkele|meerdere|twee)\b)"
_SEARCHING = any_phrase("op zoek naar|opzoek naar|op zoek zijn naar|op zoek bent naar")

LANGUAGE = Language(
    code="nl",
    small_words="de en van het een je in voor met op te is ben wij naar jij zijn aan of bij om jouw zoeken zoek regio geen",
    and_="en",
    or_="en/of|of",
    headings=HeadingWords(
        required=r"""(?:(?:jouw|uw|je)\s)?profiel|functie-?eisen|wat verwachten wij(?:\svan jou)?|wat breng je mee
        |wie ben jij|wie zoeken we|jouw troeven|vereisten""",
        nice="pluspunten|een plus(?:punt)?|mooi meegenomen",
        tasks=r"(?:(?:jouw|uw|je)\s)?(?:taken|takenpakket)|functie(?:omschrijving)?|wat ga (?:je|jij) doen|inleiding",
        company="over ons|wie zijn wij",
        offer="wat bieden wij.{0,15}|ons aanbod|aanbod|wij bieden|contact",
    ),
    titles=TitleWords(
        work="""
        aankoper adviseur afwerker ambtenaar analist apotheker arbeider architect arts assistent assistente autotechnieker
        bakker barman bediende begeleider begeleidster beheerder beleidsmedewerker beveiliger beveiligingsagent
        bezorger boekhouder boekhoudster bouwvakker buschauffeur calculator chauffeur chef coach consulent consultant
        coördinator dakwerker deskundige dierenarts directeur docent doktersassistente elektricien elektromecanicien
        elektrotechnicus fietsenmaker gids hovenier hulpkok hulpverlener huisarts ingenieur inkoper inpakker
        inspecteur installateur instructeur jobstudent jurist kapper kapster kassier kassierster keukenhulp
        keukenmedewerker kinderverzorgster kinesist kok kwaliteitscontroleur laborant lader landmeter lasser
        leerkracht leidinggevende leraar logopedist machinist magazijnier magazijnmedewerker makelaar manager
        mecanicien medewerker medewerkster metselaar metser monteur notaris onderhoudstechnieker onderwijzer
        onderzoeker ondersteuner ontwerper ontwikkelaar onthaalmedewerker operator opvoeder orderpicker pijpfitter
        plaatser planner ploegbaas poetshulp postbode productiemedewerker programmeur projectleider projectmanager
        psycholoog receptionist receptioniste recruteerder redacteur regisseur salarisadministrateur schilder
        schoonmaker schrijnwerker secretaresse secretaris sociaal-verpleegkundige sollicitant specialist stagiair
        stagiaire steigerbouwer stratenmaker student studentenjob technicus technieker tekenaar teamleider teamlead
        terreinmedewerker timmerman toezichthouder traiteur tuinier tuinman uitvoerder vakman vakvrouw verkoper
        verkoopster verpleegkundige vertaler vertegenwoordiger verzorgende vloerder voorman vrachtwagenchauffeur
        werfleider werknemer werkvoorbereider wetenschapper winkelbediende zaakvoerder zorgkundige zorgverlener
        loodgieter verzorger klusjesman poetsvrouw
        """,
        work_endings="""bediende medewerker medewerkster begeleider technieker technicus leider leidster kundige werker bouwer
        verkoper ontwikkelaar beheerder adviseur chauffeur assistente hulp consulent plaatser lasser verantwoordelijke
        coördinator bewerker controleur inspecteur deskundige verzorgende""",
        takes_en=True,
        prepositions="van|voor|en",
        of="van",
        stops="""
        die voor om met ter in bij op dat ben bent sta is zorg speel heb hebt werk te naar draag wie jij je wij we kom zal zul
        ga krijg neem vorm maak coördineer beheer bouw zoals aan van waar uit binnen tussen onder via of help zijn
        verwachten wordt moet mag hoort hou verantwoordelijk rapporteer verzorg leid weet kan kun en/of ondersteun
        lever maar dan ten tot per als onze ons jouw actief
        """,
        praise="""
        een de het onze enthousiaste gedreven gemotiveerde ervaren polyvalente flexibele dynamische creatieve nieuwe extra
        ambitieuze betrouwbare gepassioneerde zelfstandige technische voltijdse deeltijdse fulltime parttime leuke
        sterke enkele jonge echte klantgerichte sociale proactieve hands-on goede commerciële vlotte administratief
        technisch
        """,
        closing_pairs="en je|en jij",
        lead_ins=(
            LeadIn(3.5, r"\b(?i:zoeken\s+wij|wij\s+zoeken|gezocht)\s*:\s*"),
            LeadIn(4.0, rf"\b(?i:{_SEARCHING})\s+(?:nog\s)?{_ARTICLE}?"),
            LeadIn(4.0, rf"\b(?i:(?:zoek(?:en|t)?|werven|werft)(?:\s+(?:wij|we|ik))?)\s+(?:naar\s)?{_ARTICLE}"),
            LeadIn(3.5, r"\b(?i:(?:functie|rol|positie|vacature|job)\s+(?:van|als|voor))\s+(?:een\b)?"),
            LeadIn(3.0, r"\b[Aa]ls\s(?:een\s|onze\s)?(?=\s*\w)"),
            LeadIn(2.5, r"\b(?i:ben\s+jij|jij\s+bent|word\s+jij|jij\s+wordt|word)\s+(?i:een|de|onze)\b"),
        ),
        announces_like="de",
        cuts=r"\b(?i:een|naar|onze|zoeken|zoekt)\s",
        training="ervaring|opleiding",
        sentence=r"je|jij|jouw|wij|ons|onze|ben|bent|heb|zijn|wil|zoek\w*|is",
        label="titel|functie(?:titel)?|vacature",
        opening_label="titel|functie(?:titel)?|vacature",
        announcement="vacature",
        suffix="vacature|gezocht",
        post="functie|rol",
        post_of=r"van\s|als\s",
        article="een",
        grade="niveau",
        other_label="contract|locatie|datum|loon|plaats|regio|bedrijf",
        before_place="te|bij|regio",
        working_time="voltijds deeltijds vast en",
    ),
    spoken=SpokenWords(
        names={
            "english": "engels",
            "german": "duits",
            "french": "frans",
            "dutch": "nederlands vlaams",
            "spanish": "spaans",
            "italian": "italiaans",
            "portuguese": "portugees",
            "polish": "pools",
            "ukrainian": "oekraïens",
            "turkish": "turks",
            "chinese": "chinees mandarijn",
            "japanese": "japans",
            "korean": "koreaans",
            "swedish": "zweeds",
            "danish": "deens",
            "norwegian": "noors",
            "finnish": "fins",
            "czech": "tsjechisch",
            "slovak": "slowaaks",
            "hungarian": "hongaars",
            "romanian": "roemeens",
            "bulgarian": "bulgaars",
            "greek": "grieks",
            "croatian": "kroatisch",
            "serbian": "servisch",
            "hebrew": "hebreeuws",
            "vietnamese": "vietnamees",
            "luxembourgish": "luxemburgs",
            "catalan": "catalaans",
        },
        also_words="pools fins",
        tail=r"talig\w*|sprekend\w*",
        level="vloeiend|moedertaal",
        cue=r"""kennis|spreek\w*|spreken|schrijf\w*|vlot|talen|taal|mondeling|schriftelijk|tweetalig\w*|drietalig\w*
        |talenkennis|uitdrukken""",
        goes_on=r"en\b|of\b",
        of_others=r"\w+talige? (?:klant\w*|markt\w*)",
        welcome=r"pluspunt\w*|meegenomen|troef|bij voorkeur|voordeel",
        ideally="bij voorkeur",
        no="geen|niet",
        not_="niet",
        needed="nodig|vereist",
        required="vereist|noodzakelijk|een must",
        is_="zijn",
    ),
    years=YearsWords(
        numbers="één twee drie vier vijf zes zeven acht negen tien",
        ones="een",
        years="jaar|jaren",
        months="maanden",
        or_more=r"of\s+meer",
        until="tot",
        reader="je|jij|u",
        experience="ervaring",
        experience_noun="ervaring",
        experience_link="van",
        asked="minstens|ten minste|meer dan|je hebt",
        not_before=r"""\bsinds|\b(?:laatste|afgelopen|komende)|\bna|\b(?:contract|duur|garantie)\W+(?:\w+\W+){0,3}?""",
        not_after=r"oud\b|jong\b|garantie",
        boast="wij (?:hebben|zijn)|ons (?:team|bedrijf)|bedrijf met",
        secondary="waarvan",
        at_most="tot|minder dan",
        short_at_most=r"tot\s",
        short_at_least=r"minstens\s",
        short_years="jaar|jaren",
        short_experience="ervaring|werkervaring",
        short_of=r"aan\s",
        short_not="oud",
    ),
    skills=SkillWords(
        example_before=r"zoals|bijv\.?|bijvoorbeeld",
        example_after=r"of (?:gelijkaardig|vergelijkbaar|een andere|soortgelijk)\w*",
        denied="geen|niet|zonder",
        little=r"basis\w*|affiniteit|enige",
        firm="vereist|noodzakelijk|grondige|sterke|uitstekende|gedegen",
        around="kennis",
    ),
    exclusions=ExclusionWords(
        not_=r"geen|niet(?:\s(?:in|uit|van|bij))?|zonder|behalve|uitgezonderd",
        also_not="geen",
        needed="nodig|vereist",
        agencies=r"uitzend\w*|interimkantor\w*|bureaus?|kantoren|concurrenten",
        no_agencies="geen (?:bureaus|uitzendbureaus|recruiters)",
        no_freelancers=r"geen (?:freelancers?|zzp['’]?ers|contractors)",
        freelance=r"zelfstandigen?|zzp\S*",
        levels="starter",
        remote=r"thuiswerk\w*|telewerk\w*|op kantoor",
    ),
    short=ShortWords(
        greeting="hallo",
        asker="je|wij|ik",
        wish="",
        asking="zoek(?:en|t)?|gezocht:?|op zoek naar|vind|nodig:?",
        asked="wij|naar",
        joiners="met",
        edges="""te bij het regio omgeving nabij rond van uit de en of met straal ervaring jaar mensen gezocht spreekt spreken
        enkele twee drie""",
    ),
    places=PlaceWords(
        noise="""regio dagen dag thuiswerk thuiswerken noord zuid oost provincie plaats locatie omgeving rond rondom te
        vanuit voltijds deeltijds centrum binnenstad omstreken of""",
        label=r"""(?:werk|stand|vestigings)?plaats(?:\svan tewerkstelling)?|plaats tewerkstelling|tewerkstellingsplaats
        |(?:werk)?locatie|regio|werkplek|stad|adres""",
        label_alone="(?:werk|stand)plaats|plaats tewerkstelling|(?:werk)?locatie",
        workplace_before=r"""(?:gevestigd|gelegen|gesitueerd|werkzaam|actief|tewerkgesteld|gelocaliseerd)\s(?:in|te|nabij|rond|bij)
        |(?:ons|onze|het|de|een|hun|zijn)\s(?:[\w-]+\s){0,2}?(?:kantoor|vestiging|site|filiaal|winkel|team|restaurant|hotel|school|praktijk|bakkerij|apotheek|hoofdkantoor|atelier|werkplaats|magazijn|hoofdzetel|zetel|locatie|afdeling|campus|ziekenhuis|fabriek|productiesite)\s(?:is\s)?(?:gelegen\s|gevestigd\s)?(?:in|te|van|bij|nabij)
        |(?:kantoor|vestiging|filiaal|winkel|site|werkplek|standplaats|locatie|bedrijf|klant|firma|tewerkstelling)\s(?:in|te|is|uit|regio|nabij)|(?:de\s|in\s)?(?:regio|omgeving|omstreken)(?:\svan)?|klant\w*\s(?:in|te|uit|regio)|bedrijf\s(?:in|te|uit)|nabij|in\sde\sbuurt\svan|rond(?:om)?|vanuit(?:\sons\skantoor\sin)?""",
        workplace_article=r"de|regio",
        workplace_after=r"\sen\s(?:omgeving|omstreken)\b",
        our="ons|onze",
        office="kantoor|vestiging",
        seat_before=r"(?:kantoren|vestigingen|filialen)\s(?:in|te)|hoofd(?:kantoor|zetel)\s(?:in|te|is)",
        mention_before="te",
        title_before="te|regio|voor|gevestigd in",
        title_article="",
        elsewhere_before=r"verplaatsingen\s(?:naar|in)|klanten\s(?:in|uit)",
        organisation_before="universiteit",
        organisation_of="van",
        within=r"binnen(?:\seen straal van)?|straal van",
        radius="straal",
        around="rond(?:om)?|van",
        within_article="",
        within_after=r"straal(?:\svan)?",
        asked_before=r"""(?:wonend\s|gevestigd\s)?(?:in|te|uit)|regio|in de regio|omgeving|in de omgeving van|rond|rondom
        |nabij|vlakbij|bij|van""",
        asked_article="",
        not_before="geen|niet|behalve|zonder|buiten",
        not_link="uit|te",
        country_weights={"NL": 1.0, "BE": 1.0},
        cues=(
            Cue(
                "BE",
                3.5,
                r"maaltijdcheques?|ecocheques?|hospitalisatieverzekering|groepsverzekering|extralegale|paritair comité|PC ?\d{3}|VDAB|RSZ|ADV(?:-dagen)?|dienstencheques?|IBO|knelpuntberoep|kmo['’]?s?|Belgisch\w*|Vlaams\w*|Brussel\w*|brutoloon|eindejaarspremie|TSO|BSO|fietsvergoeding|nettovergoeding|tewerkstelling\w*|statuut|RVA|sociaal secretariaat|interimkantoor\w*",
            ),
            Cue(
                "BE",
                2.0,
                r"bedienden?|onthaal\w*|interim\w*|werfleider|werf|werven|schrijnwerk\w*|ploegenstelsel|poetshulp|gsm|aankoper|aankopen|vast contract|onbepaalde duur|verlof(?:dagen)?|voltijdse?|deeltijdse?|opzoek naar|loonpakket|verloning|opvolgen|opvolging|leerbereid|vlotte?|vorming|hogeschool\w*|jobstudent\w*|verplaatsingen|rijbewijs B|firma|namiddag|kledij|twee?talig|Franstalig\w*|Nederlandstalig\w*|uurrooster|werkuren|in functie van|zelfstandige in bijberoep|hoofdzetel|facturatie|polyvalent\w*|syndicaal|burgerlijk ingenieur|stiel\w*|camion\w*|magazijnier|arbeider\w*|afwerking",
            ),
            Cue(
                "NL",
                3.0,
                r"[mMvV]?[bB][oO](?:[-+]?(?:\d|niveau|opleiding))|[mM]bo|MBO|[hH]bo|HBO|[vV]mbo|VMBO|werk- en denkniveau|cao|reiskostenvergoeding|vakantiegeld|UWV|VOG|BIG-registratie|Nederland\w*|zzp\w*|pensioenregeling|pensioenopbouw|bruto per maand|uur per week|\d\d\s?[-–]\s?\d\d uur|vakantie-?uren|secundaire arbeidsvoorwaarden|onbepaalde tijd|bepaalde tijd|dienstverband|rooster|dertiende maand|gemeente",
            ),
        ),
    ),
)
