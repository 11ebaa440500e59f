"""Which of the four languages a text is written in, by its most frequent small words."""

import re
from collections import Counter

WORD = re.compile(r"[^\W\d_]+")
SAMPLE_WORDS = 1500
SMALL_WORDS = {
    "en": "the and of to in a for with you are our will we is as or on your be have that this looking from not near",
    "de": """und die der in mit für wir von zu das auf du den im sie ist ein eine bei als zur deine oder sowie suchen
    nicht""",
    "fr": """de et des la le les vous à en un une du pour dans nous est avec sur au votre recherche ans ou par recrute
    près""",
    "nl": "de en van het een je in voor met op te is ben wij naar jij zijn aan of bij om jouw zoeken zoek regio geen",
}
_LANGUAGES_OF = {
    word: tuple(language for language, words in SMALL_WORDS.items() if word in words.split())
    for words in SMALL_WORDS.values()
    for word in words.split()
}


def text_language(text: str) -> str | None:
    """`en`, `de`, `fr` or `nl`; null when the small words do not decide."""
    counts: Counter[str] = Counter()
    for number, found in enumerate(WORD.finditer(text)):
        if number == SAMPLE_WORDS:
            break
        languages = _LANGUAGES_OF.get(found.group().lower(), ())
        for language in languages:
            counts[language] += 6 // len(languages)
    ranked = counts.most_common(2)
    if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]
