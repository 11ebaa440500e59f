"""Reading takes linear time, whatever the text: four times the text takes about four times the CPU."""

import pytest

from benchmarks.hostile import SHAPES, cpu_ms, distinct_words, hostile
from tests.models.reading.known import read

SHORT, TIMES_LONGER = 5_000, 4
MOST = 10
"""Twice the growth of linear time and more; quadratic time grows sixteenfold. CPU time differs from try to try."""
TRIES = 4
MIXED = {
    "a long word and an at sign": "a" * 999 + "@ ",
    "commas between skills": "Python" + "," * 999 + "x Java ",
    "skills and addresses": "Python mail@example.org ",
    "open brackets and a place": "(" * 999 + "Berlin ",
    "spaces between tags": "<p>" + " " * 999 + "<",
    "hyphens at the end of a line": "-\n" * 300 + "Berlin ",
}
"""Long runs before something that a pattern waits for, repeated."""


@pytest.mark.parametrize("piece", (SHAPES | MIXED).values(), ids=(SHAPES | MIXED).keys())
def test_reading_takes_linear_time(piece: str) -> None:
    read("Nurse in Leeds")
    grown = (
        cpu_ms(hostile(piece, TIMES_LONGER * SHORT)) / max(1.0, cpu_ms(hostile(piece, SHORT))) for _ in range(TRIES)
    )
    assert any(growth < MOST for growth in grown)


@pytest.mark.timeout(60)  # time that grows faster than the text would take hours
def test_a_run_of_one_sign_and_then_another_takes_bounded_time() -> None:
    for sign in "a(,@":
        for other in ("@", ")", "Berlin", ">"):
            read(sign * 16_000 + other)


def test_words_that_are_all_new_take_linear_time() -> None:
    grown = (
        cpu_ms(distinct_words(seed, TIMES_LONGER * SHORT)) / max(1.0, cpu_ms(distinct_words(-seed - 1, SHORT)))
        for seed in range(TRIES)
    )
    assert any(growth < MOST for growth in grown)
