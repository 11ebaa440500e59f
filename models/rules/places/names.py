"""How place names are compared: one key for every way of writing the same name."""

import re
import unicodedata

LETTERS = str.maketrans(
    {
        "ß": "ss",
        "ø": "o",
        "Ø": "O",
        "ł": "l",
        "Ł": "L",
        "æ": "ae",
        "Æ": "AE",
        "œ": "oe",
        "Œ": "OE",
        "đ": "d",
        "Đ": "D",
        "ð": "d",
        "þ": "th",
        "ı": "i",
        "’": "'",
        "‘": "'",
        "`": "'",
    }
)
UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
NOT_WORD = re.compile(r"[^a-z0-9]+")
LONG_FORMS = {
    "st": "saint",
    "ste": "sainte",
    "mt": "mount",
    "ft": "fort",
}
ENDINGS = (
    (" a m", " am main"),
    (" a main", " am main"),
    (" i br", " im breisgau"),
    (" i breisgau", " im breisgau"),
    (" i w", " in westfalen"),
    (" i westf", " in westfalen"),
    (" b", " bei"),
)
MIDDLES = ((" a d ", " an der "), (" o d ", " ob der "), (" v d ", " vor der "), (" b ", " bei "))


def ascii_form(text: str) -> str:
    """Fold accents and the letters that Unicode does not decompose; what is left of other scripts is dropped."""
    plain = unicodedata.normalize("NFC", text).translate(LETTERS)
    return unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()


def place_key(text: str) -> str:
    """The form in which names are compared: `St. Gallen` and `saint gallen` give the same."""
    words = NOT_WORD.sub(" ", ascii_form(text).lower()).split()
    if not words:
        return ""
    return _long_form(" ".join(LONG_FORMS.get(word, word) for word in words))


def _long_form(key: str) -> str:
    for short, long in MIDDLES:
        if short in key:
            key = key.replace(short, long)
    for short, long in ENDINGS:
        if key.endswith(short):
            return key.removesuffix(short) + long
    return key


def spelled_out(text: str) -> str:
    """German umlauts as two letters: `Muenchen` for `München`."""
    return unicodedata.normalize("NFC", text).translate(UMLAUTS)
