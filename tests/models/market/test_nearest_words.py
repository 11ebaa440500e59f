"""Typing errors are read as the one known word that is near, and only then."""

import random
import time

import pytest

from models.market.nearest_words import WordKind
from models.market.reference import reference

SEED = 11


@pytest.mark.parametrize(
    ("typed", "meant", "kind"),
    [
        ("elecrtician", "Electrician", WordKind.TITLE),
        ("Schlosesr", "Schlosser", WordKind.TITLE),
        ("boulangr", "Boulanger", WordKind.TITLE),
        ("loodgeiter", "Loodgieter", WordKind.TITLE),
        ("Kubernetis", "Kubernetes", WordKind.SKILL),
        ("Roterdam", "Rotterdam", WordKind.PLACE),
        ("Müchen", "Munich", WordKind.PLACE),
        ("Marsielle", "Marseille", WordKind.PLACE),
        ("Accentrue", "Accenture", WordKind.COMPANY),
        ("portugese", "Portuguese", WordKind.LANGUAGE),
    ],
)
def test_a_mistyped_word_is_read_as_the_known_one(typed: str, meant: str, kind: WordKind) -> None:
    found = reference().nearest_words.nearest(typed)
    assert found is not None
    assert found.text.lower() == meant.lower()
    assert kind in found.kinds


@pytest.mark.parametrize("word", ["developers", "Buchhalterin", "Gent", "needed", "please", "x1y2z3", "abc", "", "çà"])
def test_a_known_or_unlike_word_stays(word: str) -> None:
    assert reference().nearest_words.nearest(word) is None


def test_only_the_kinds_asked_for_are_looked_at() -> None:
    words = reference().nearest_words
    assert words.nearest("Roterdam", frozenset({WordKind.TITLE})) is None
    assert words.nearest("Roterdam", frozenset({WordKind.PLACE})) is not None


def test_most_swaps_in_long_titles_are_undone_and_few_are_undone_wrongly() -> None:
    words, chance = reference().nearest_words, random.Random(SEED)
    asked = [
        "Accountant",
        "Projektleiter",
        "Vrachtwagenchauffeur",
        "Infirmier",
        "Electrician",
        "Verpleegkundige",
        "Maurer",
    ]
    right = wrong = 0
    for word in asked * 20:
        at = chance.randrange(1, len(word) - 1)
        typed = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        found = words.nearest(typed)
        right += found is not None and found.text.lower() == word.lower()
        wrong += found is not None and found.text.lower() != word.lower()
    assert right > 90
    assert wrong < 5


def test_the_vocabulary_is_read_once_and_questions_are_quick() -> None:
    words = reference().nearest_words
    words.nearest("acountant")
    began = time.process_time()
    for number in range(200):
        words.nearest(f"acountan{'abcdefghij'[number % 10]}{'klmnopqrst'[number // 20]}")
    assert time.process_time() - began < 1
