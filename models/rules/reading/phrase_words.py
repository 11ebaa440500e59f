"""Words that stand around a title in running text: those that end it, and the praise before it."""

import re

_STOPS = {
    "en": """who to that with for at on we you you'll you’ll is will are as whose where from role roles position
    positions within join working based reporting regarding concerning responsible looking interested having which
    post posts vacancy and/or be been your their this these has have can must would currently because when if
    including under by into across opportunity job it they able works work leads reports manages provides supports
    performs develops serves oversees ready supporting helping leading serving located committed passionate needed
    required whilst while through during but so""",
    "de": """der die das den dem welche welcher mit für zur zum zu in im bei am an ab ist sind wir du sie dich
    unterstützen unterstützt bist übernimmst übernehmen gesucht auf aus von als verantworten verantwortest bringst
    bringen arbeitest arbeiten sorgst wirst werden kannst haben hast gestaltest betreust betreuen oder zwischen ihre
    unser unsere dein deine um beauftragt steuern steuerst leitest leiten planst planen vorzugsweise idealerweise
    welches nach durch ihr sein begleitest begleiten führst führen entwickelst entwickeln wenn dann hier damit sowie""",
    "fr": """pour qui afin à au aux dans sur avec chez basé basée vous ayant nous est sera sous dont il elle capable
    disposant souhaitant possédant situé située ou vos votre notre intervenant ainsi selon seront son sa ses ce
    cette h/f f/h hors idéalement se réalise parlant motivé motivés dynamique confirmés rattaché que passionné
    expérimenté""",
    "nl": """die voor om met ter in bij op dat ben bent sta is zorg speel heb hebt werk te naar draag wie jij je wij
    we kom zal zul ga krijg neem vorm maak coördineer beheer bouw zoals aan van waar uit binnen tussen onder via of
    help zijn verwachten wordt moet mag hoort hou verantwoordelijk rapporteer verzorg leid weet kan kun en/of
    ondersteun lever maar dan ten tot per als onze ons jouw actief""",
}
_LEADING = {
    "en": """a an the our new experienced passionate talented motivated highly skilled dynamic enthusiastic
    exceptional qualified dedicated ambitious driven self-motivated hands-on creative strong great brilliant
    outstanding proactive reliable committed compassionate caring hardworking energetic full-time part-time
    permanent additional suitably ideal next first 2nd second successful good friendly professional detail-oriented
    results-driven results-oriented innovative organised organized commercially-minded curious and seasoned
    accomplished fantastic very temporary remote several technical-minded keen bright exciting opportunity multiple
    top versatile collaborative strategic-minded confident capable amazing well forward-thinking kind some any
    following all few number of""",
    "fr": """un une un(e un(e) une/un un/une des le la les l' nouveau nouvelle futur future véritable jeune bon bonne
    excellent plusieurs d'un d'une nouveaux nouvelles talentueux""",
    "nl": """een de het onze enthousiaste gedreven gemotiveerde ervaren polyvalente flexibele dynamische creatieve
    nieuwe extra ambitieuze betrouwbare gepassioneerde zelfstandige technische voltijdse deeltijdse fulltime
    parttime leuke sterke enkele jonge echte klantgerichte sociale proactieve hands-on goede commerciële vlotte
    administratief technisch""",
    "de": "",
}
STOPS = {language: frozenset(words.split()) for language, words in _STOPS.items()}
STOPS["de"] = STOPS["nl"] = STOPS["de"] | STOPS["nl"]
"""German and Dutch share their announcing words, so a phrase may be of either language."""
LEADING = {language: frozenset(words.split()) for language, words in _LEADING.items()}
_PAIRS = """
en période|en cdi|en cdd|en intérim|en alternance|en vue|en contrat|en temps|en journée|en extérieur
in our|in the|in a|in an|in this|in unserem|in unserer|in der|in einem|in einer|of our|of the
and be|and you|and help|en je|en jij|und du|und sie|et vous
"""
NOT_IN_TITLE = frozenset(pair.strip() for line in _PAIRS.strip().splitlines() for pair in line.split("|"))
"""Two words that end a title together."""
GLUED_END = re.compile(r"(?<=[a-zäöüß])(?:who|beauftragt|unterstützen|unterstützt|übernimmst|betreust|bist)$")
"""A following word that lost its space, as where bold type ended."""
