"""What the demonstration shows in the terminal."""

import io

import pytest
from rich.console import Console

from stack.demo import COLUMNS, candidate_table

ROW = {
    "full_name": "Aleksandra van Middelkoop-Vanderstraeten",
    "title": "Principal Data Platform Engineer for Manufacturing",
    "company": "Example Manufacturing International",
    "location": "Sint-Katelijne-Waver, Flanders, Belgium",
    "distance_km": 104.5,
    "experience_years": 17,
    "tenure_months": 128,
    "tier": 8,
}


@pytest.mark.parametrize("width", [80, 100, 200])
def test_the_numbers_of_a_candidate_are_readable_at_every_width(width: int) -> None:
    shown = io.StringIO()
    Console(file=shown, width=width).print(candidate_table([ROW], width=width))
    lines = shown.getvalue().splitlines()
    assert len(lines) == 5, "a candidate takes one line"
    assert max(map(len, lines)) <= width
    assert all(heading in lines[1] for heading in COLUMNS.values())
    assert [cell.strip() for cell in lines[3].split("│")[5:9]] == ["104.5", "17", "128", "8"]
