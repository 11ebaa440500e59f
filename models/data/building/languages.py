"""Languages for the reference file: the English name and all other names of each."""

from models.market.curated import names_by_key
from models.market.place_names import place_key, spelled_out

CODES = """
af am ar as az be bg bn bs ca cs cy da de el en es et eu fa fi fil fr ga gl gu he hi hr hu hy id is it ja ka kk km
kn ko ku ky lb lo lt lv mk ml mn mr ms mt my nb ne nl or pa pl ps pt ro ru rw si sk sl so sq sr sv sw ta te th ti
tk tl tr uk ur uz vi wo xh yi yo yue zh zu ase bfi sh
""".split()  # noqa: SIM905 - words read best as words
LANGUAGES = ("en", "de", "fr", "nl")


def build_languages() -> dict[str, str]:
    """Return the lower-case English names by the keys of names in four languages."""
    from babel import Locale

    listed = {language: Locale(language).languages for language in LANGUAGES}
    extra = names_by_key("languages")
    keys: dict[str, str] = {}
    for code in CODES:
        names = [*extra.get(code, ()), *(listed[language][code] for language in LANGUAGES if code in listed[language])]
        for name in names:
            for form in (name, spelled_out(name)):
                keys.setdefault(place_key(form), english_name(code, names[0]))
    return keys


def english_name(code: str, curated_name: str) -> str:
    """Return the lower-case English name under which sources list a language."""
    from babel import Locale

    return curated_name.lower() if code in names_by_key("languages") else Locale("en").languages[code].lower()
