"""Each case is an advertisement in a few lines, the city it is about (None: it names none), and its country."""

# ruff: noqa: E501 - advertisements are written as they are
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.market.place_names import Place, PlaceKind, place_key
from models.market.places import Places
from models.market.reference import reference
from models.reading.document import text_language
from models.reading.places.workplace import PlaceReading, read_place_of_work

ANY = "any city"
CASES: list[tuple[str, str | None, str]] = [
    ("Senior Data Engineer\nAcme Ltd\nManchester, UK\n\nWe build data platforms.", "Manchester", "GB"),
    ("Senior Data Engineer\nManchester\n\nWe are hiring.", "Manchester", "GB"),
    (
        "Software Engineer (Remote, Germany)\n\nWe are a fully remote company building developer tools. You will write Go.",
        None,
        "DE",
    ),
    (
        "Vertriebsmitarbeiter (m/w/d) in Augsburg\n\nWir suchen zum nächstmöglichen Zeitpunkt einen Mitarbeiter für unser Team.",
        "Augsburg",
        "DE",
    ),
    ("Pflegefachkraft (m/w/d) – Freiburg im Breisgau\n\nWir suchen dich!", "Freiburg", "DE"),
    ("Bauleiter Hochbau (m/w/d)\nHuber Bau GmbH\nInnsbruck\n\nJahresbruttogehalt ab EUR 50.000", "Innsbruck", "AT"),
    ("Buchhalter:in 80-100%\nMuster AG\nWinterthur\n\nWir suchen per sofort", "Winterthur", "CH"),
    (
        "Wir suchen für unseren Standort in Ludwigshafen am Rhein einen Chemielaboranten (m/w/d).\n\nIhre Aufgaben: Analysen.",
        "Ludwigshafen",
        "DE",
    ),
    ("Für unser Büro in Wien suchen wir eine:n Controller:in. KV-Gehalt mit Überzahlung.", "Vienna", "AT"),
    ("Elektroniker (m/w/d)\n\nEinsatzort: 90402 Nürnberg\nStart: sofort\n\nDeine Aufgaben", "Nuremberg", "DE"),
    ("Koch (m/w/d)\n\nArbeitsort: Garmisch-Partenkirchen\n\nWir bieten Unterkunft.", "Garmisch-Partenkirchen", "DE"),
    ("Ingénieur logiciel H/F\nBordeaux (33)\n\nNous recherchons un ingénieur.", "Bordeaux", "FR"),
    (
        "Comptable H/F - Clermont-Ferrand\n\nRattaché au DAF, vous serez en charge de la comptabilité.",
        "Clermont-Ferrand",
        "FR",
    ),
    ("69 - VILLEURBANNE\nTechnicien de maintenance\n\nCDI temps plein", "Villeurbanne", "FR"),
    ("Technicien de maintenance (H/F)\n13 - AIX EN PROVENCE\n\nCDI temps plein", "Aix-en-Provence", "FR"),
    ("Notre client, situé à Saint-Étienne, recherche un mécanicien. CDI. Mutuelle.", "Saint-Étienne", "FR"),
    ("Poste basé à Namur. Nous recherchons un assistant social. Chèques-repas, assurance groupe.", "Namur", "BE"),
    ("Assistant(e) RH\nLiège\n\nNous offrons un CDI avec chèques-repas.", "Liège", "BE"),
    ("Boekhouder\nAccountants BV\nUtrecht\n\nJe werkt 32-40 uur per week, hbo werk- en denkniveau.", "Utrecht", "NL"),
    ("Verpleegkundige regio Kortrijk\n\nVoltijds of deeltijds, onbepaalde duur, maaltijdcheques.", "Kortrijk", "BE"),
    ("Onze klant, gevestigd in Roeselare, zoekt een magazijnier. Maaltijdcheques en ecocheques.", "Roeselare", "BE"),
    (
        "Je gaat aan de slag in ons kantoor in Eindhoven. Reiskostenvergoeding. Mbo werk- en denkniveau.",
        "Eindhoven",
        "NL",
    ),
    ("Standplaats: Den Bosch\n\nWij zoeken een planner. CAO bouw.", "'s-Hertogenbosch", "NL"),
    ("Staff Nurse\nBand 5\n\nRoyal Infirmary, Leicester, LE1 5WW\n\nNHS pension", "Leicester", "GB"),
    ("Teaching Assistant\nThe school is located in Wolverhampton. DBS check required.", "Wolverhampton", "GB"),
    ("Location: Leeds or Sheffield (hybrid)\nSalary: £45,000 per annum\n\nWe need a product manager.", ANY, "GB"),
    ("Software Engineer\nDublin, Ireland\n\nA payments company", "Dublin", "IE"),
    ("Accountant, Cork\n\nWe are seeking an accountant for our Cork office. Pension and healthcare.", "Cork", "IE"),
    ("Registered Nurse\nMercy Health\nCedar Rapids, IA\n\n401(k), PTO", "Cedar Rapids", "US"),
    ("Warehouse Associate - Columbus, OH\n\n$19.50/hr. 401k.", "Columbus", "US"),
    ("Backend Engineer | Acme | Remote (US) | Full-time\nAcme builds payments.", None, "US"),
    (
        "Acme | Staff Engineer | San Francisco, CA | ONSITE | https://acme.example\nWe build rockets.",
        "San Francisco",
        "US",
    ),
    ("Acme (YC W21) | Berlin or Remote (EU) | Full-time\nWe build things.", "Berlin", "DE"),
    ("Project Manager\nCalgary, AB\n\nRRSP matching", "Calgary", "CA"),
    ("Conseiller en ventes\nMontréal, QC\n\nREER collectif", "Montréal", "CA"),
    ("Electrician - Perth WA\n\nPlus super. Must hold WA licence.", "Perth", "AU"),
    ("Marketing Manager\nMelbourne VIC\n\nSuperannuation", "Melbourne", "AU"),
    ("Data Analyst\nAuckland\n\nKiwiSaver", "Auckland", "NZ"),
    ("Ingeniero\nMadrid, Spain\n\nOur team in Madrid is growing.", "Madrid", "ES"),
    ("Frontend Developer\nWarsaw, Poland\n\nB2B contract, PLN 20000", "Warsaw", "PL"),
    (
        "Java Developer\n\nYou have experience in Java, Oracle and Scala. You love Reading documentation, in Person or online. Nice to have: Mobile. We use Phoenix and Chandler tools in Metro.",
        None,
        "",
    ),
    ("Ernährungsberater (m/w/d)\n\nIn der Lage sein, Essen zu planen. Gute Lage. Halle und Messe.", None, "DE"),
    (
        "Sales Manager\n\nExperience in Sales, Marketing and Commerce in Enterprise environments. University degree. Based in our beautiful office.",
        None,
        "",
    ),
    ("Consultant (m/w/d)\n\nWir sind ein Unternehmen mit Büros in Berlin, Hamburg, München und Köln.", None, "DE"),
    (
        "Account Executive\nHeadquartered in San Francisco with offices in Dublin and Sydney, Acme is growing. This role is based in Munich.",
        "Munich",
        "DE",
    ),
    ("Product Owner (m/w/d)\nBremer Kontor GmbH\nBremen\n\nWir suchen", "Bremen", "DE"),
    ("Berliner Sparkasse sucht Kundenberater (m/w/d) für die Filiale in Potsdam.", "Potsdam", "DE"),
    ("Manager\nHamburg Süd\nRotterdam\n\nLogistics experience", "Rotterdam", "NL"),
    ("Kaufmann (m/w/d)\n\nStandort: Halle (Saale)\n\nText", "Halle (Saale)", "DE"),
    ("Verkäufer (m/w/d)\n\nStandort: Frankfurt/Main\n\nText", "Frankfurt am Main", "DE"),
    ("Ingenieur (m/w/d)\n\nStandort: Neustadt\n\nText auf Deutsch und die Aufgaben", None, "DE"),
    ("Ingenieur (m/w/d)\n\nStandort: Neustadt an der Weinstraße\n\nText", "Neustadt an der Weinstraße", "DE"),
    ("Engineer\nLocation: Springfield\nUS company with 401(k)", None, "US"),
    ("Engineer\nLocation: Springfield, MO\n", "Springfield", "US"),
    ("Manager\nLocation: Cambridge\nSalary £50k", "Cambridge", "GB"),
    ("Manager\nLocation: Cambridge, MA\nSalary $150k", "Cambridge", "US"),
    ("Director\nLocation: Birmingham, Alabama", "Birmingham", "US"),
    ("Director\nLocation: Birmingham\n£ per annum pension scheme", "Birmingham", "GB"),
    ("Chef de partie - Nice\n\nNous recherchons un chef de partie pour notre restaurant à Nice. CDI.", "Nice", "FR"),
    ("Chef de rang H/F\n\nRestaurant situé à Tours, CDI", "Tours", "FR"),
    ("Serveur\nLieu : Lens\n\nCDD", "Lens", "FR"),
    ("Projektleiter (m/w/d)\nStadtwerke Essen AG\nEssen\n\nDeine Aufgaben", "Essen", "DE"),
    ("Schlosser in Essen gesucht (m/w/d)\n\nWir bieten Tarifvertrag", "Essen", "DE"),
    ("Head of Growth\n\nLocation: Remote within EMEA", None, "*"),
    ("Customer Success Manager (DACH)\n\nRemote. Fluent German.", None, "DE"),
    ("Location: UK (remote)\nRole: SRE", None, "GB"),
    ("Location: Greater Manchester\nRole: SRE", "Manchester", "GB"),
    ("Location: SF Bay Area\nRole: SRE", "San Francisco", "US"),
    ("Location: Bavaria, Germany\nRole: SRE", None, "DE"),
    ("Location: Oost-Vlaanderen\nWij zoeken een chauffeur", None, "BE"),
    ("Regio: Leuven - Mechelen\nWij zoeken een chauffeur. maaltijdcheques", ANY, "BE"),
    ("Wij zoeken een kok voor ons restaurant te Knokke. Maaltijdcheques", "Knokke", "BE"),
    (
        "Unser Mandant ist ein mittelständisches Unternehmen im Raum Ulm. Wir suchen einen Einkaufsleiter (m/w/d).",
        "Ulm",
        "DE",
    ),
    ("Arbeiten rund um Rosenheim: Wir suchen Monteure (m/w/d) im Umkreis von 30 km um Rosenheim.", "Rosenheim", "DE"),
    (
        "Aide à domicile\nNous recherchons pour le secteur de Montélimar et ses alentours une aide à domicile. CDI",
        "Montélimar",
        "FR",
    ),
    (
        "Kontakt: Firma Muster GmbH, Hauptstraße 5, 72764 Reutlingen. Wir suchen einen Fräser (m/w/d).",
        "Reutlingen",
        "DE",
    ),
    (
        "Solliciteer bij Jan via jan@firma.be, Stationsstraat 1, 9700 Oudenaarde. Wij zoeken een arbeider.",
        "Oudenaarde",
        "BE",
    ),
    ("Our London office is looking for a paralegal. £30k.", "London", "GB"),
    ("Senior Product Designer\n\nYou'll join our team in Lisbon, Portugal.", "Lisbon", "PT"),
    ("Cloud Architect\nOslo\n\nWe are a Norwegian consultancy.", "Oslo", "NO"),
    ("Analyst\nStockholm, Sweden", "Stockholm", "SE"),
    ("DevOps\nGothenburg\n\nWe are a Swedish company", "Gothenburg", "SE"),
    ("QA Engineer\nPrague, Czechia", "Prague", "CZ"),
    ("Fullstack dev\nLuxembourg\n\nFund admin", "Luxembourg", "LU"),
    ("Compliance Officer\nLuxembourg, Luxembourg", "Luxembourg", "LU"),
    ("Analyst\nSingapore\n\nTrading firm", "Singapore", "SG"),
    ("Nurse\nWashington, DC\n401(k)", "Washington", "US"),
    ("Nurse\nSeattle, Washington\n401(k)", "Seattle", "US"),
    ("Nurse\nPortland, Maine\n", "Portland", "US"),
    ("Sales\nNewcastle upon Tyne\n", "Newcastle upon Tyne", "GB"),
    ("Sales\nNewcastle, NSW\n", "Newcastle", "AU"),
    ("Ort: Lage\nDie Aufgaben und der Job", "Lage", "DE"),
    ("In guter Lage in Bielefeld suchen wir einen Friseur (m/w/d).", "Bielefeld", "DE"),
    ("Conducteur routier\nLyon 3ème\nCDI", "Lyon", "FR"),
    ("Vendeur H/F\nParis 15e\nCDI", "Paris", "FR"),
    ("Agent d'accueil\nMarseille 08\nCDI", "Marseille", "FR"),
    ("Web developer\nAmsterdam Zuidoost\n", "Amsterdam", "NL"),
    ("Werkstudent (m/w/d)\nBerlin-Mitte\n", "Mitte", "DE"),
    ("Techniker\nHamburg-Altona\n", "Altona", "DE"),
    ("Nachhilfelehrer (m/w/d) Köln-Ehrenfeld\n\nWir suchen", "Cologne", "DE"),
    ("Fachkraft\nMünchen, Bayern, Deutschland\n", "Munich", "DE"),
    ("Dev\nZürich, Zürich, Schweiz", "Zürich", "CH"),
    ("Developpeur\nGenève\nCHF 100k", "Geneva", "CH"),
    ("Developpeur\nFribourg, Suisse", "Fribourg", "CH"),
    ("Sachbearbeiter\nFreiburg\n(m/w/d) GmbH Deutschland", "Freiburg", "DE"),
    ("Analyst\nGreater London\n", "London", "GB"),
    ("Manager\nNew York, NY 10001\n", "New York City", "US"),
    ("Manager\nNew York\n401k", "New York City", "US"),
    ("Manager\nAthens, Greece\n", "Athens", "GR"),
    ("Manager\nAthens, GA\n", "Athens", "US"),
    ("Manager\nDublin, OH 43017\n", "Dublin", "US"),
    ("Manager\nSan José, Costa Rica", "San José", "CR"),
    ("Technical Writer\nBangalore, India", "Bengaluru", "IN"),
    ("Technical Writer\nTel Aviv\n", "Tel Aviv", "IL"),
    ("Head of IT (m/w/d)\n\nWir suchen dich für unser Team in der Zentrale.", None, "DE"),
    ("HR Manager\n\nAcme is looking for an HR manager with PR experience.", None, ""),
    ("QA Engineer - IT\n\nWe are looking for a QA engineer.", None, ""),
    ("Senior Clinical Fellow (ST 6-8)\n\nNHS Trust based in Whitechapel, East London.", "Whitechapel", "GB"),
    ("Account Manager - Brussels\n\nYou visit clients.", "Brussels", "BE"),
    ("Ingénieur commercial - région lyonnaise\n\nCDI", "Lyon", "FR"),
    ("Chauffeur C/CE te Genk\n\nWij bieden maaltijdcheques", "Genk", "BE"),
    ("Kassamedewerker Supermarkt Zwolle\n\nJe werkt 12 uur per week.", "Zwolle", "NL"),
    ("Verkäuferin 60-80% in Bern\n\nPensum 60-80%", "Bern", "CH"),
    ("Technicien SAV H/F\nSecteur : Toulouse\nCDI", "Toulouse", "FR"),
    ("Lieu de travail : 31000 Toulouse\nCDI, mutuelle", "Toulouse", "FR"),
    ("Plaats tewerkstelling: 8500 KORTRIJK\nOnbepaalde duur", "Kortrijk", "BE"),
    ("Ort\n76133 Karlsruhe\n\nIhre Aufgaben und Ihr Profil", "Karlsruhe", "DE"),
    ("Location\nGlasgow\n\n£30,000 per annum", "Glasgow", "GB"),
    ("**Location:** Hybrid - 2 days a week in our Bristol office\n£50k", "Bristol", "GB"),
    ("Job type: Full-time\nWork Location: In person, Tampa, FL\n401(k)", "Tampa", "US"),
    ("This is a hybrid role, based in our headquarters in Copenhagen.", "Copenhagen", "DK"),
    ("We are looking for a Sales Manager to join our team in Milan (Italy).", "Milan", "IT"),
    ("Join us in Barcelona! We offer relocation.", "Barcelona", "ES"),
    ("Ihr Arbeitsplatz ist in 70173 Stuttgart.", "Stuttgart", "DE"),
    ("Für unsere Filiale in der Bahnhofstrasse in Zürich suchen wir eine Verkäuferin (Pensum 100%).", "Zürich", "CH"),
    ("Ab sofort suchen wir für unser Hotel in Kitzbühel einen Koch (m/w/d). Überzahlung.", "Kitzbühel", "AT"),
    ("Wir suchen Erzieher (m/w/d) für unsere Kita in Berlin-Pankow.", "Berlin", "DE"),
    ("Nous recherchons un(e) serveur(se) pour notre établissement à Annecy. CDI.", "Annecy", "FR"),
    ("Vous serez basé(e) à Grenoble avec des déplacements à Paris et Lyon. CDI.", "Grenoble", "FR"),
    ("Je standplaats is Rotterdam. Hbo werk- en denkniveau.", "Rotterdam", "NL"),
    ("Vanuit ons kantoor in Hasselt bedien je klanten. Maaltijdcheques.", "Hasselt", "BE"),
    ("Office Manager - Zaventem\nMaaltijdcheques en groepsverzekering", "Zaventem", "BE"),
    ("Nurse Practitioner - Tulsa\n401k Medicaid", "Tulsa", "US"),
    ("The successful candidate will work from our site at Didcot, Oxfordshire.", "Didcot", "GB"),
    ("Salary: £28,000. Location: Stoke-on-Trent, Staffordshire", "Stoke-on-Trent", "GB"),
    ("Sales Executive (Galway)\nIreland based", "Galway", "IE"),
    ("Store Manager - Kilkenny City\nIreland", "Kilkenny", "IE"),
    ("Wien: Softwareentwickler (m/w/d)\nKV", "Vienna", "AT"),
    ("Berlin | Senior Backend Engineer (m/f/d)\nWe build", "Berlin", "DE"),
    ("[Remote] Senior Backend Engineer\nWe build, anywhere", None, ""),
    ("Teamleiter (m/w/d) Vertrieb Raum Süd\nWir suchen in Deutschland", None, "DE"),
    ("Außendienst Nordrhein-Westfalen (m/w/d)\nWir suchen", None, "DE"),
    ("Key Account Manager NRW (m/w/d)\nWir suchen", None, "DE"),
    ("Servicetechniker (m/w/d) PLZ 4\nWir suchen in Nordrhein-Westfalen", None, "DE"),
    ("Doctoral Researcher\nMax Planck Institute, Göttingen, Germany\n", "Göttingen", "DE"),
    ("Assistant Professor\nETH Zurich, Switzerland", "Zürich", "CH"),
    ("Position: Analyst\nCity: Nairobi\nCountry: Kenya", "Nairobi", "KE"),
    ("Bezirksleiter (m/w/d) im Raum Köln/Bonn\nwir suchen", "Cologne", "DE"),
    ("Wir suchen Verstärkung in Mannheim und Heidelberg! (m/w/d)", ANY, "DE"),
    ("Auszubildende (m/w/d) in Voll- oder Teilzeit in Kiel", "Kiel", "DE"),
    ("Mitarbeiter (m/w/d) in Teilzeit\nWir suchen in Rostock einen Mitarbeiter", "Rostock", "DE"),
    ("You studied in Cambridge, Oxford or Stanford? Great. £60k", None, "GB"),
    ("Our investors are based in London and New York.", None, ""),
    ("Kunden in München und Berlin vertrauen uns. Wir arbeiten remote. (m/w/d)", None, "DE"),
]


@pytest.fixture(scope="module")
def places() -> Places:
    return reference().places


def read(text: str) -> PlaceReading:
    return read_place_of_work(text, places=reference().places, language=text_language(text))


def cities(reading: PlaceReading) -> list[Place]:
    if reading.location is None:
        return []
    anchor = reading.location.anchor_location_id
    ids = [*([anchor] if anchor else []), *reading.location.location_ids]
    named = [reference().places.get(location_id) for location_id in ids]
    return [place for place in named if place.kind in (PlaceKind.CITY, PlaceKind.METRO)]


def is_called(place: Place, name: str) -> bool:
    wanted, found = place_key(name), place_key(place.name)
    return wanted in found or found in wanted or any(other.id == place.id for other in reference().places.named(name))


def around(place: Place, name: str) -> bool:
    """Whether a metro lies around a city of that name."""
    middle = reference().places.named(name)
    return place.kind is PlaceKind.METRO and any(abs(other.lat - place.lat) < 0.01 for other in middle)


@pytest.mark.parametrize(("text", "city", "country"), CASES)
def test_the_place_of_work_is_read_and_never_guessed(text: str, city: str | None, country: str) -> None:
    reading = read(text)
    found = cities(reading)
    if city is None:
        assert found == []
    elif city is ANY:
        assert found
    else:
        assert any(is_called(place, city) or around(place, city) for place in found)
    if country not in ("", "*"):
        assert reading.location is not None
        assert country in reading.location.countries


@pytest.mark.parametrize("text", [text for text, _, _ in CASES])
def test_evidence_quotes_the_text_at_its_offsets(text: str) -> None:
    for evidence in read(text).evidence:
        assert text[evidence.start : evidence.end] == evidence.quote
        assert evidence.field.startswith("must.location.")


@pytest.mark.parametrize("text", [text for text, city, _ in CASES if city is None])
def test_where_no_city_is_read_a_warning_says_so(text: str) -> None:
    assert read(text).warnings


def test_several_cities_outright_are_all_searched() -> None:
    reading = read("Analyst\nExample Ltd\nLondon, Paris\n\nWe are looking for an analyst.")
    assert [place.name for place in cities(reading)] == ["London", "Paris"]
    assert reading.location is not None
    assert reading.location.anchor_location_id is None
    assert set(reading.location.countries) == {"GB", "FR"}
    assert any("all are searched" in warning for warning in reading.warnings)


def test_neighbouring_cities_become_one_area() -> None:
    reading = read("Analyst\nExample Ltd\nLeeds / Bradford, UK\n\nWe are looking for an analyst.")
    assert reading.location is not None
    assert [place.name for place in cities(reading)] == ["Leeds"]
    assert reading.location.anchor_location_id is not None


def test_cities_that_are_only_listed_in_passing_decide_nothing() -> None:
    reading = read(
        "We are hiring. Our teams sit in an office in Leeds and an office in Dover. The job is in the UK, in English."
    )
    assert cities(reading) == []
    assert any("none stands out" in warning for warning in reading.warnings)


def test_a_radius_is_read_only_where_the_text_states_one() -> None:
    stated = read("Monteur (m/w/d)\n\nDu wohnst im Umkreis von 30 km um Rosenheim.")
    unstated = read("Monteur (m/w/d)\n\nUnser Betrieb ist in Rosenheim.")
    assert stated.location is not None
    assert stated.location.radius_km == 30
    assert unstated.location is not None
    assert unstated.location.radius_km is None


def test_an_ambiguous_name_is_warned_about_with_its_choices() -> None:
    reading = read("Engineer\nLocation: Springfield\nUS company with 401(k)")
    assert cities(reading) == []
    assert any("Missouri" in warning and "Illinois" in warning for warning in reading.warnings)


def test_a_region_alone_is_searched_as_such(places: Places) -> None:
    reading = read("Location: Bavaria, Germany\nRole: SRE")
    assert reading.location is not None
    assert [places.get(location_id).label for location_id in reading.location.location_ids] == ["Bavaria, Germany"]


def test_a_department_stands_in_for_a_village_we_do_not_know(places: Places) -> None:
    reading = read("Charpentier H/F\n07 - SAINT INCONNU LE HAUT\n\nCDI")
    assert reading.location is not None
    assert [places.get(location_id).name for location_id in reading.location.location_ids] == ["Ardèche"]


def test_a_group_of_countries_is_read_from_a_label(places: Places) -> None:
    reading = read("SRE\n\nLocation: Remote (DACH)\n\nWe are hiring.")
    assert reading.location is not None
    assert set(reading.location.countries) == {"DE", "AT", "CH"}


def test_a_country_that_is_only_inferred_is_said_to_be() -> None:
    reading = read("Wir suchen dich für unser Team. Du hast Freude an der Arbeit und bist gern für die Kunden da.")
    assert reading.location is not None
    assert reading.location.countries == ("DE",)
    assert reading.evidence == ()
    assert any("inferred" in warning for warning in reading.warnings)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Greater Paris Metropolitan Region", "Greater Paris"),
        ("London Area, United Kingdom", "Greater London"),
        ("75 - Paris 8e Arrondissement", "Paris"),
        ("2A - AJACCIO", "Ajaccio"),
        ("974 - ST DENIS", "Saint-Denis"),
        ("Saint-Denis (93)", "Saint-Denis"),
        ("Nordrhein-Westfalen, Köln", "Cologne"),
        ("Wien, Wien, Österreich", "Vienna"),
        ("Zug, ZG", "Zug"),
        ("Sydney NSW 2000", "Sydney"),
        ("Dublin 2", "Dublin"),
        ("Limerick, County Limerick", "Limerick"),
        ("Bad Homburg v. d. Höhe", "Bad Homburg vor der Höhe"),
        ("Courbevoie - La Défense", "Courbevoie"),
        ("Nazareth-De Pinte, België", "Nazareth"),
        ("Milton Keynes MK9 2AB", "Milton Keynes"),
        ("London/Cambridge, UK", "London"),
        ("Berlin-Unbekannthausen", "Berlin"),
    ],
)
def test_a_location_line_is_read_as_portals_write_it(line: str, name: str) -> None:
    reading = read(f"Manager\nExample Company\n{line}\n\nThis is the text and we are looking for you.")
    assert cities(reading)[0].name == name


@pytest.mark.parametrize(("line", "region"), [("Surrey, UK", "Surrey"), ("Kanton Zürich", "Zurich")])
def test_a_location_line_may_name_a_region(line: str, region: str, places: Places) -> None:
    reading = read(f"Manager\nExample Company\n{line}\n\nThis is the text and we are looking for you.")
    assert reading.location is not None
    assert [places.get(location_id).name for location_id in reading.location.location_ids] == [region]


def test_a_whole_continent_fits_into_an_intent() -> None:
    reading = read("SRE\n\nLocation: EMEA\n\nWe are hiring.")
    assert reading.location is not None
    assert 40 < len(reading.location.countries) <= 60


def test_a_firm_between_title_and_location_is_not_the_location() -> None:
    reading = read("Manager\nOxford\nLeeds\n\nThis is the text and we are looking for you in the UK.")
    assert [place.name for place in cities(reading)] == ["Leeds"]


def test_a_german_adjective_of_a_city_names_its_office() -> None:
    reading = read(
        "Du wirst Teil des Teams und arbeitest mit den Kolleginnen im Hamburger Büro. Wir freuen uns auf dich."
    )
    assert [place.name for place in cities(reading)] == ["Hamburg"]


def test_a_number_of_a_departement_settles_a_name_in_the_title() -> None:
    assert [place.name for place in cities(read("Conducteur de car Aubenas (07)\n\nCDI"))] == ["Aubenas"]
    assert cities(read("Conducteur de car Aubenas (59)\n\nCDI, mutuelle")) == []


def test_provinces_listed_together_are_not_cities() -> None:
    reading = read(
        "Je werkt voor werven in Antwerpen, Vlaams-Brabant en Limburg. Maaltijdcheques en een vast contract."
    )
    assert cities(reading) == []


@pytest.mark.parametrize(
    "text", ["We travel to Paris often and the team is happy.", "Reisen nach Berlin gehören für die Kunden dazu."]
)
def test_where_people_travel_is_not_where_they_work(text: str) -> None:
    assert cities(read(text)) == []


def test_a_number_that_is_no_departement_names_nothing() -> None:
    assert cities(read("Charpentier H/F\n00 - INCONNU LE HAUT\n\nCDI, mutuelle")) == []


def test_a_radius_alone_makes_a_place_the_middle_of_the_search() -> None:
    reading = read("Monteur (m/w/d)\n\nDein Gebiet: Rosenheim, 40 km Umkreis, mit dem Firmenwagen.")
    assert [place.name for place in cities(reading)] == ["Rosenheim"]


def test_everyday_words_in_english_prose_name_no_city() -> None:
    assert cities(read("You will help children in Reading and Writing. DBS check, NHS, £12 per hour, UK.")) == []


def test_a_berlin_adjective_that_is_no_city_is_passed_over() -> None:
    assert cities(read("Wir arbeiten im Unbekannter Büro und du bist dabei.")) == []


def test_abbreviations_in_prose_are_no_cities() -> None:
    assert cities(read("Experience with network technology in WAN and LAN, CPH or SXM is welcome.")) == []


@pytest.mark.timeout(60)  # time that grows faster than the text would take hours
@pytest.mark.parametrize(
    "unit",
    ["www.", "Berlin ", "Berlin, ", "Saint-", "Location: Berlin\n", "de la ", "12345 Paris ", "a.", "( ", "@a", "L'"],
)
def test_hostile_repetition_does_not_hold_the_reader_up(unit: str) -> None:
    text = unit * (50_000 // len(unit))
    read_place_of_work(text, places=reference().places, language="en")


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=400))
def test_any_text_is_read_without_an_error(text: str) -> None:
    for evidence in read(text).evidence:
        assert text[evidence.start : evidence.end] == evidence.quote
