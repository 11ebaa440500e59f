"""Spreadsheets: RFC 4180, and no cell that a spreadsheet would run."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.kernel.spreadsheet import csv_row


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("Jo", "Jo"),
        (None, ""),
        (7, "7"),
        (-3, "-3"),
        (2.5, "2.5"),
        ("=1+1", "'=1+1"),
        ("+1+1", "'+1+1"),
        ("-2", "'-2"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\tx", "'\tx"),
        ("\rx", '"\'\rx"'),
        ("+32 9 123 45 67", "+32 9 123 45 67"),
        ("+1 (415) 555-0100", "+1 (415) 555-0100"),
        ("+1+cmd|' /C calc'!A0", "'+1+cmd|' /C calc'!A0"),
        ('a "b", c', '"a ""b"", c"'),
        ("two\nlines", '"two\nlines"'),
        ("Zoë Ångström 李", "Zoë Ångström 李"),
    ],
)
def test_a_cell_is_quoted_and_harmless(cell: str | int | float | None, written: str) -> None:
    assert csv_row(["x", cell]) == f"x,{written}\r\n"


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\x00")), min_size=1))
def test_what_is_written_is_read_back_apart_from_the_apostrophe(cells: list[str]) -> None:
    (row,) = csv.reader(io.StringIO(csv_row(cells), newline=""))
    for cell, back in zip(cells, row, strict=True):
        assert back in {cell, f"'{cell}"}
        assert back == cell or back[1] in "=+-@\t\r"
