"""Companies by name: one key for every way of writing the same firm, and the known firms."""

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple, Protocol

from models.base.values import Kept
from models.market.place_names import ascii_form

DOTTED = re.compile(r"\b(?:[a-z]\.\s?){2,}")
NOT_WORD = re.compile(r"[^a-z0-9]+")
LEGAL_FORMS = frozenset(
    """
    ab ag aktiengesellschaft aps as asa bv bvba cv cvba co company corp corporation cooperatie ek eg eingetragener
    ev fze gbr ggmbh gmbh gesellschaft group holding holdings inc incorporated international kg kgaa kk lda
    limited llc llp lp ltd ltda mbh nv ohg oy oyj plc pte pty public pvt private sa sarl sas sasu se sprl srl sro
    spa spzoo spj sl slu stiftung ug und vof zrt kft nyrt doo ood ead
    """.split()  # noqa: SIM905 - words read best as words
)


class Company(NamedTuple):
    """A firm. `id` is `co_` and its LEI or stock symbol in lower case; `country_code` where it is registered."""

    id: str
    name: str
    country_code: str | None
    domain: str | None

    @property
    def label(self) -> str:
        """The name, with what tells it from others of that name."""
        beside = self.domain or self.country_code
        return f"{self.name} ({beside})" if beside else self.name


class Companies(Protocol):
    """The shipped firms."""

    def get(self, company_id: str) -> Company:
        """Return the firm of an id; raises `KeyError` for an unknown one."""
        ...

    def knows(self, company_id: str) -> bool:
        """Return whether there is a firm of this id."""
        ...

    def named(self, name: str) -> Sequence[Company]:
        """Return every firm a name can mean, best first: listed firms, then those whose whole name it is."""
        ...

    def at_domain(self, domain: str) -> Sequence[Company]:
        """Return firms at a domain such as `acme.example`, also given as a URL or mail address."""
        ...

    def beginning(self, name: str, *, limit: int) -> Sequence[Company]:
        """Return the firms whose name begins with this text, for typing ahead."""
        ...


def company_key(name: str) -> str:
    """Return the name without its legal form: `Acme N.V.`, `ACME GmbH & Co. KG` and `acme` give the same.

    A name that is nothing but legal form keeps its words, as does one that only begins with it (`Inc. Magazine`).
    """
    plain = DOTTED.sub(lambda found: found.group().replace(".", "").replace(" ", "") + " ", ascii_form(name).lower())
    words = NOT_WORD.sub(" ", plain.replace("&", " and ")).split()
    kept = list(words)
    while len(kept) > 1 and (kept[-1] in LEGAL_FORMS or kept[-1] == "and"):
        kept.pop()
    return " ".join(kept) or " ".join(words)


def without_legal_form(name: str) -> str:
    """Return a name as written, less the legal form and `Group` at its end: `Target Corporation` gives `Target`."""
    words = name.split()
    while len(words) > 1 and NOT_WORD.sub("", ascii_form(words[-1]).lower()) in {*LEGAL_FORMS, ""}:
        words.pop()
    return " ".join(words).rstrip(",")


def plain_domain(text: str) -> str:
    """Return the registered host of a domain, URL or mail address, lower case and without `www.`."""
    host = text.strip().lower().split("://")[-1].split("/")[0].split("@")[-1].split(":")[0]
    return host.removeprefix("www.").strip(".")


COMPANY_LIFE = timedelta(days=30)
"""How long a company that was looked up is known without asking again, as with profiles."""


class CompanyDetails(Kept):
    """What a source says of a company. `size` is a range of people, `founded` a year; both null where not said."""

    name: str
    domain: str | None = None
    country_code: str | None = None
    industry: str | None = None
    size: str | None = None
    founded: int | None = None
    type: str | None = None
    location: str | None = None
