"""The languages that texts are read in: every module of this folder that holds a `LANGUAGE`."""

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules

from models.reading.languages.language import Language, any_phrase


def _languages() -> tuple[Language, ...]:
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    found = (getattr(module, "LANGUAGE", None) for module in modules)
    return tuple(language for language in found if isinstance(language, Language))


LANGUAGES = _languages()
BY_CODE = {language.code: language for language in LANGUAGES}


def phrases(choose: Callable[[Language], str]) -> str:
    """Return a group that matches the phrases that any language has for something."""
    return any_phrase("|".join(chosen for language in LANGUAGES if (chosen := choose(language).strip())))


def word_set(choose: Callable[[Language], str]) -> frozenset[str]:
    """Return the words that the languages have for something."""
    return frozenset(word for language in LANGUAGES for word in choose(language).split())


AND = phrases(lambda each: each.and_)
OR = phrases(lambda each: each.or_)
