"""Company names as one says them in a message: without the legal form (contract, section 7)."""

import re

from models.rules.outreach.letters import letters, undecorated

_FORMS = frozenset(
    """
    aktiengesellschaft aps asa bhd bvba corp cvba doo ehf eirl eood fzco fze fzllc gbr ggmbh gmbh inc incorporated
    jsc kft kgaa lda limitada limited llc llp ltd ltda mbh nyrt ohg ooo oü oy oyj pjsc plc pllc pte pty pvt sarl sas
    sasu sdn slu spa spzoo sprl srl sro ulc vof vzw zrt
    """.split()  # noqa: SIM905 - words read best as words
)
_SHORT_FORMS = frozenset(
    "ab ad ag as bv cv dd ev kg kk lp nv sa se sia sl sp uab ug".split()  # noqa: SIM905 - as above
)
"""Also words, so only in capitals or all small."""
_SPACED = re.compile(
    r"[\s,]+(?:sp\.?\s*z\s*o\.?\s?o\.?|s\.?a\.?\s+de\s+c\.?v\.?|s\.?\s*r\.?\s*o\.|d\.\s*o\.\s*o\.|a\.\s*s\."
    r"|(?:b|n|c|k|s)\.\s+(?:v|v|v|k|a|l|e)\.|ug\s*\(haftungsbeschränkt\)|a/s)\s*$",
    re.IGNORECASE,
)
_COMPANY = frozenset({"co", "company", "cie", "private"})
_AND = frozenset({"&", "+", "and", "und", "en", "et"})


def spoken_company(name: str | None) -> str | None:
    """The name for `{{company}}`; null when it is unknown. Only for the text: nothing is stored so.

    A name that is nothing but a legal form keeps it, and so does one that only begins with it (`Inc. Magazine`).
    """
    whole = undecorated_company(name or "")
    words = _SPACED.sub("", whole).split()
    dropped = len(words) < len(whole.split())
    while len(words) > 1:
        if _form(words[-1]) or (dropped and _goes_with_form(words)):
            del words[-1]
            dropped = True
        elif dropped and words[-1].lower() in _AND:
            del words[-1]
        else:
            break
    spoken = " ".join(words).rstrip(" ,;")
    return spoken if any(map(str.isalnum, spoken)) else None


def undecorated_company(name: str) -> str:
    """Without emoji and invisible characters, unless the name is made of signs that stand in company names."""
    plain = undecorated(name)
    return " ".join(name.split()) if "+" in name or "|" in name else plain


def _form(word: str) -> bool:
    bare = letters(word)
    if bare.lower() in _FORMS:
        return True
    return bare.lower() in _SHORT_FORMS and (bare.isupper() or bare.islower())


def _goes_with_form(words: list[str]) -> bool:
    """`Co` of `Co., Ltd.` and of `GmbH & Co. KG`, `Private` of `Private Limited`; but people say `Smith & Co.`."""
    if letters(words[-1]).lower() not in _COMPANY:
        return False
    return words[-2].lower() not in _AND or (len(words) > 3 and _form(words[-3]))  # noqa: PLR2004 - X GmbH & Co
