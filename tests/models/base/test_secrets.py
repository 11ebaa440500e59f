"""Secrets at rest: a disguised id hides the id from everyone without the key."""

import pytest

from models.base.secrets import Vault

VAULT, STRANGER = Vault("a secret of the tests, long enough"), Vault("another secret of the tests, long enough")
ONE, NEXT = "prof_01jd3v8k5xe9q8w2r7t6y5v4p3", "prof_01jd3v8k5xe9q8w2r7t6y5v4p4"


def test_a_disguised_id_is_short_always_the_same_and_useless_without_the_key() -> None:
    disguised = VAULT.disguise("page", ONE)
    assert len(disguised) == 22
    assert disguised == VAULT.disguise("page", ONE) != VAULT.disguise("page", NEXT)
    assert VAULT.recognise("page", "prof", disguised) == ONE
    assert STRANGER.recognise("page", "prof", disguised) != ONE
    assert VAULT.recognise("another purpose", "prof", disguised) != ONE


def test_disguises_of_neighbouring_ids_look_unrelated() -> None:
    pairs = zip(VAULT.disguise("page", ONE), VAULT.disguise("page", NEXT), strict=True)
    assert sum(a == b for a, b in pairs) < 8


@pytest.mark.parametrize("wrong", ["", "x", "é", "!" * 22, "A" * 21, "A" * 23, "A" * 24, "A" * 21 + "B", ONE])
def test_a_text_of_another_form_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of base64, of the cipher or our own
        VAULT.recognise("page", "prof", wrong)
