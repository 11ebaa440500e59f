"""French: the words and phrases that readers look for."""

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


_ARTICLE = r"(?:un\(e\)|une?\s?/\s?une?|une?(?=\s)(?!\s+de\s)|des(?=\s)(?!\s+nouve)|\d{1,2}(?=\s)|plusieurs\b)"
_ASKING = any_phrase(
    """recherche|recherchons|recherchent|rechercher|recrute|recrutons|recrutent|recruter|recrutant|embauche|embauchons
    |cherche|cherchons|propose|proposons"""
)
_CUT = any_phrase(
    r"""un\(e\)|une?/une?|une?|des|d['’]une?|le|la|les|postes? de|emplois? de|recherche de|en tant que|notre|nos
    |plusieurs|recrutons|recherchons|recrute|recherche"""
)

LANGUAGE = Language(
    code="fr",
    small_words="""de et des la le les vous à en un une du pour dans nous est avec sur au votre recherche ans ou par recrute
    près""",
    and_="et",
    or_="et/ou|ou|ni",
    headings=HeadingWords(
        required=r"(?:(?:votre|le)\s)?profil|profil recherché|compétences|expérience|qualifications?",
        nice="les plus|un plus|atouts?|souhaités?|serait un plus|optional",
        tasks=r"(?:vos\s)?missions?|tâches",
        company=r"qui sommes[\s-]nous|à propos.{0,40}|l['’]entreprise",
        offer=r"nous (?:vous\s)?(?:offrons|proposons)|avantages|rémunération|contact",
    ),
    titles=TitleWords(
        work="""
        acheteur acheteuse adjoint adjointe administrateur administratrice agent agente aide aide-soignant aide-soignante
        ajusteur ambulancier analyste animateur animatrice apprenti apprentie architecte artisan assistant assistante
        attaché attachée auxiliaire avocat avocate barman boucher bouchère boulanger boulangère caissier caissière
        cadre câbleur carreleur carrossier chargé chargée charpentier chaudronnier chauffagiste chauffeur chef cheffe
        coffreur coiffeur coiffeuse collaborateur collaboratrice commercial commerciale commis comptable concepteur
        conceptrice concierge conducteur conductrice conseiller conseillère consultant consultante contremaître
        contrôleur contrôleuse coordinateur coordinatrice coordonnateur couturier couturière couvreur cuisinier
        cuisinière data décorateur dessinateur dessinatrice développeur développeuse directeur directrice économiste
        éducateur éducatrice électricien électricienne électromécanicien employé employée encadrant enseignant
        enseignante ergonome ergothérapeute esthéticienne expert experte façadier ferronnier fleuriste formateur
        formatrice forgeron fraiseur frigoriste gardien gardienne géomètre gérant gestionnaire gouvernante gouvernant
        graphiste grutier guide horticulteur hôte hôtesse infirmier infirmière informaticien ingénieur ingénieure
        inspecteur installateur instituteur intervenant intervenante jardinier journaliste juriste kinésithérapeute
        livreur logisticien maçon magasinier magasinière maître manager manoeuvre manœuvre manutentionnaire maraîcher
        marbrier mécanicien mécanicienne médecin médiateur menuisier menuisière métallier métreur moniteur monitrice
        monteur monteuse négociateur notaire opérateur opératrice opticien orthophoniste ouvrier ouvrière palefrenier
        paysagiste pâtissier pâtissière peintre pharmacien pharmacienne photographe pilote pizzaiolo plaquiste plieur
        plombier plongeur poinçonneur poissonnier ponceur poseur préparateur préparatrice professeur professeure
        programmeur projeteur psychologue puéricultrice réceptionniste rédacteur rédactrice régleur responsable
        sage-femme secouriste secrétaire serrurier serveur serveuse soigneur soudeur soudeuse stagiaire surveillant
        surveillante tapissier technicien technicienne technico-commercial télévendeur terrassier testeur tourneur
        traducteur trésorier tuyauteur usineur vendangeur vendeur vendeuse vétérinaire veilleur viticulteur webmaster
        alternant alternante
        """,
        doubtful_work="cadre guide maître chef principal aide",
        head_first=True,
        short_forms={
            "aides-soignants": "aide-soignant",
            "aides-soignantes": "aide-soignante",
            "sages-femmes": "sage-femme",
        },
        prepositions=r"de|des|du|en|et|à",
        of="de|d|du",
        stops="""
        pour qui afin à au aux dans sur avec chez basé basée vous ayant nous est sera sous dont il elle capable disposant
        souhaitant possédant situé située ou vos votre notre intervenant ainsi selon seront son sa ses ce cette h/f
        f/h hors idéalement se réalise parlant motivé motivés dynamique confirmés rattaché que passionné expérimenté
        """,
        praise="""
        un une un(e un(e) une/un un/une des le la les l' nouveau nouvelle futur future véritable jeune bon bonne excellent
        plusieurs d'un d'une nouveaux nouvelles talentueux
        """,
        closing_pairs="""en période|en cdi|en cdd|en intérim|en alternance|en vue|en contrat|en temps|en journée|en extérieur
        |et vous""",
        lead_ins=(
            LeadIn(3.5, r"\b(?i:recherchons|recrutons|recherche|recrute)\s*:\s*"),
            LeadIn(4.0, rf"\b(?i:{_ASKING})\b[^.!?\n]{{0,110}}?\s(?i:{_ARTICLE})"),
            LeadIn(
                4.0,
                r"\b(?i:à\s+la\s+recherche\s+d(?:e\s+|['’]une?\b|['’]un\(e\)|es\s+))(?:\s*(?:nouve\w+|futur\w*)\s)?",
            ),
            LeadIn(
                3.5, r"\b(?i:(?:postes?|emplois?|métiers?|fonctions?|celui)\s+(?:d(?:e|es|u)\s|d['’])(?:\s?une?\s)?)"
            ),
            LeadIn(3.5, r"\b(?i:en\s+(?:tant\s+qu(?:e\s|['’])|qualité\s+de\s))(?:\s?une?\s)?"),
            LeadIn(2.5, r"\b(?i:vous\s+êtes|devenez)\s+(?:un\(e\)\s|une?\s)?(?=\w)"),
        ),
        cuts=rf"(?:(?<=\s)|(?<=^))(?i:{_CUT})\s",
        training="expérience|formation|diplôme",
        sentence=r"nous|vous|votre|vos|notre|nos|est|sont|recherch\w+|recrut\w+",
        label=r"poste|intitulé(?:\sdu poste)?|métier",
        opening_label="poste|offre d'emploi|intitulé du poste|emploi",
        announcement=r"recrutement|nous recrutons|recrute|une?(?=\s)",
        suffix="recherchée?s?",
        post="postes?|emplois?|métiers?",
        post_of=r"de\s|d['’]",
        article="une?",
        grade="niveau",
        other_label="lieu|contrat|type de contrat|date|salaire|entreprise|région",
        before_place="à|a|près de|sur",
        working_time="""télétravail temps plein partiel complet intérim cdi cdd mois et hybride bureau""",
        gender_words="tous|hommes?|femmes?",
        double_forms=r"(?<=[^\W\d_])(?i:\((?:e|ne|le|se|re|ère|ière|rice|trice|euse|fe|ve)s?\)s?|[·.•](?:e|ne|trice|rice|euse|ère|ière|se|ve)(?:[·.•]s)?|/(?:trice|euse|rice|ière|ère|ne|e))(?![^\W\d_])",
    ),
    spoken=SpokenWords(
        names={
            "english": "anglais",
            "german": "allemand",
            "french": "français francais",
            "dutch": "néerlandais",
            "spanish": "espagnol",
            "italian": "italien",
            "portuguese": "portugais",
            "polish": "polonais",
            "russian": "russe",
            "ukrainian": "ukrainien",
            "turkish": "turc",
            "arabic": "arabe",
            "chinese": "chinois",
            "japanese": "japonais",
            "korean": "coréen",
            "swedish": "suédois",
            "danish": "danois",
            "norwegian": "norvégien",
            "finnish": "finnois",
            "czech": "tchèque",
            "slovak": "slovaque",
            "hungarian": "hongrois",
            "romanian": "roumain",
            "bulgarian": "bulgare",
            "greek": "grec",
            "croatian": "croate",
            "serbian": "serbe",
            "hebrew": "hébreu",
            "vietnamese": "vietnamien",
            "thai": "thaï",
            "luxembourgish": "luxembourgeois",
            "catalan": "catalan",
            "welsh": "gallois",
        },
        also_words="italien",
        level=r"courant\w*|bilingue|langue maternelle",
        cue=r"langues?|parl\w+|écrit\w*|maîtrise\w*|lu|oral\w*",
        goes_on=r"et\b|ou\b",
        welcome=r"atout|souhait\w+|appréci\w+|serait|idéalement",
        ideally="idéalement|de préférence",
        no="pas",
        not_="pas",
        needed="nécessaire",
        required="exigée?|nécessaire|indispensable|obligatoire|requise?",
        is_="est|sont",
        in_="en",
    ),
    years=YearsWords(
        numbers="un deux trois quatre cinq six sept huit neuf dix",
        ones="une",
        years=r"ans|années?|an(?=\s+d)",
        months="mois",
        or_more=r"ou\s+plus",
        until="à",
        reader=r"vous|candidat\w*",
        experience="expérience|ancienneté",
        experience_noun="expérience",
        experience_link=r"de|d['’]|au moins",
        asked=r"au moins|plus de|vous (?:avez|justifiez|disposez)",
        not_before=r"""\bdepuis(?:\s\w+){0,3}|\b(?:derni[eè]r\w*|prochain\w*)|\bâgée?s?(?:\sde)?|\bentre|\btous les|\baprès
        |\b(?:contrat|durée|garantie)\W+(?:\w+\W+){0,3}?|\bil y a|\bdurée (?:de|d['’])""",
        not_after=r"âge|d['’]existence|garantie|d['’]études|au service",
        boast="nous (?:avons|sommes|accompagnons)|notre (?:équipe|entreprise|société)|entreprise",
        secondary="dont",
        at_most=r"jusqu['’]à|moins de",
        short_at_most=r"jusqu['’]à\s",
        short_at_least=r"au moins\s",
        short_years="ans?|années?",
        short_experience="expérience|xp",
        short_of=r"d['’]",
        short_not="âge",
    ),
    skills=SkillWords(
        example_before=r"comme|p\.?\s?ex\.?|par exemple|tels? que|telles? que|type",
        example_after=r"ou (?:équivalent|similaire|autre)\w*",
        denied=r"pas de|pas d['’]|sans",
        little=r"notions?|sensib\w+|bases",
        firm=r"indispensable|impérati\w+|exigée?|maîtris\w+|solides?|confirmée?",
        around="connaissances",
    ),
    exclusions=ExclusionWords(
        not_=r"hors|sauf|sans|pas d(?:e\s|['’])|pas (?:des?|à|en)|exclure",
        also_not="pas de",
        needed=r"nécessaires?|requis\w*",
        agencies=r"agences?|cabinets?|esn|ssii|intérim|concurrents?",
        no_agencies=r"pas d['’]agences?",
        no_freelancers="pas de (?:freelancers?|freelances)",
        freelance="indépendants?",
        levels="débutant",
        remote="télétravail|sur site",
    ),
    short=ShortWords(
        greeting="bonjour",
        asker="nous|je",
        wish="cherche à",
        asking="recherch(?:e|ons)|cherch(?:e|ons)|recrut(?:e|ons)|trouve[rz]?",
        joiners="avec|ayant",
        edges="""à au aux dans près de du des sur en la le les région autour d l et ou avec rayon expérience ans minimum min
        profil personnes merci recherché recherchée recherchés parle parlant plusieurs deux trois""",
    ),
    places=PlaceWords(
        noise="""ville hybride région près jours jour semaine par télétravail partiel complet centre ouest sud est cedex
        arrondissement avec ou à a au de du des la les le l d environs alentours secteur département canton province lieu cdi
        cdd périphérie agglomération agglo banlieue couronne""",
        label=r"""lieu(?:x)?(?:\sde\stravail|\sdu poste|\sde mission|\sd['’]exercice|\sd['’]affectation)?|localisation
        |localité|poste basé|ville|site|secteur|affectation|adresse""",
        label_alone=r"lieu(?:\sde travail|\sdu poste)?|localisation",
        workplace_before=r"""(?:bas[ée]e?s?(?:\(e\)s?)?|situ[ée]e?s?(?:\(e\)s?)?|implantée?s?|localisée?s?|installée?s?)\s(?:à|a|au|aux|en|sur|près de|proche de|dans la région de|dans la ville de|dans le secteur de|dans|vers)
        |(?:poste|mission|emploi|travail|entreprise|client|société|boutique|restaurant|magasin|établissement|association|hôpital|clinique|crèche|école|usine|atelier)\s(?:est\s|sera\s)?(?:basée?\s|situ[ée]e?\s)?(?:à|a|au|sur|de|près de|proche de)
        |(?:notre|nos|son|sa|ses|leur|un|une|le|la|du|pour son|pour notre|pour le)\s(?:[\w'’-]+\s){0,2}?(?:agence|site|bureau|bureaux|établissement|magasin|boutique|restaurant|usine|centre|siège|antenne|équipe)\s(?:de|d['’]|à|sur|en)
        |(?:sur|pour)\s(?:le\s|les\s)?secteurs?\s(?:de|d['’]|du)|secteur\s(?:de\s|d['’])?|bassin\s(?:de|d['’])|région\s(?:de|d['’])|dans\sla\srégion\s(?:de|d['’])|à\sproximité\s(?:de|d['’])|près\s(?:de|d['’])|proche\s(?:de|d['’])?|proximité\s(?:de\s)?|autour\s(?:de|d['’])|aux\salentours\s(?:de|d['’])|alentours\s(?:de|d['’])|commune\sde|ville\sde""",
        workplace_article=r"de|la|le|les|ville\sde",
        workplace_after=r"\sou\senvirons\b|\set\s(?:ses\s)?(?:alentours|environs)\b",
        our="notre",
        office="bureau",
        seat_before=r"""(?:bureaux|agences|sites|implantations)\s(?:à|a)|siège(?:\ssocial)?\s(?:est\s)?(?:basé\s)?(?:à|de)
        |dont\sle\ssiège\s(?:est\s)?à|agence\s(?:[\w'’-]+\s){0,2}?(?:de|d['’])""",
        mention_before="à|a|en",
        title_before="à|a|au|aux|sur|pour|secteur|région|basé à",
        title_article=r"de\s|d['’]|la\s|le\s|l['’]",
        elsewhere_before=r"déplacements?\s(?:[\w-]+\s){0,2}?(?:à|a|en|sur|vers)|clients\s(?:à|en)",
        organisation_before="université|institut|ville|agence|banque|mairie",
        organisation_of=r"de|d['’]",
        within="dans un rayon de|rayon de|à moins de",
        radius="rayon",
        around=r"de|d['’]|autour de",
        within_article="de|la",
        within_after=r"rayon(?:\sde)?",
        asked_before=r"""(?:basée?s?\s|situ[ée]e?s?\s|habitant\s)?(?:à|a|au|aux|en|dans|sur)|près de|près d['’]|proche de
        |proches de|autour de|autour d['’]|vers|secteur|région|dans la région de|de la région de|de|d['’]""",
        asked_article=r"de\s|la\s|le\s|les\s|l['’]|d['’]",
        not_before="hors|sauf|pas|excepté|sans",
        not_link="à|a|au|de|en",
        country_weights={"FR": 2.0, "BE": 0.4, "CH": 0.4, "CA": 0.3, "LU": 0.2},
        cues=(
            Cue(
                "FR",
                3.0,
                r"CDI|CDD|SMIC|RTT|tickets?[- ]restaurants?|mutuelle|bac ?\+ ?\d|BTS|DUT|CAP|BEP|prime de précarité|IFM|intérim\w*|pôle emploi|France Travail|13[eè](?:me)? mois|alternance|RQTH|paniers? repas|comité d['’]entreprise|CACES|permis B|Agefiph|français\w*|DEAS|prime de fin d['’]année|CPAM|URSSAF|ESAT",
            ),
            Cue(
                "BE",
                3.5,
                r"chèques?[- ]repas|éco-?chèques|commission paritaire|CP ?\d{3}|passeport APE|Forem|Actiris|PFI|assurance groupe|Belgique|belges?|Wallonie|ONEM|ONSS",
            ),
        ),
    ),
)
