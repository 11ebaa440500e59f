"""Names and words: a check may find as many offenders as its ceiling says. Lower the ceiling after removing some."""

from pathlib import Path

import pytest

from tests.architecture import names
from tests.architecture.names import CEILINGS, CHECKS


@pytest.mark.parametrize("name", CHECKS)
def test_there_are_no_more_offenders_than_there_were(name: str) -> None:
    found = CHECKS[name]()
    assert len(found) <= CEILINGS[name], "\n".join([f"python -m tests.architecture --list {name}", *found[:40]])


def test_what_the_checks_find(tmp_path: Path) -> None:
    files = {
        "models/a.py": "import lib._x\nfrom lib._y import z\nclass Twice: ...\nclass _Own: 1\ndef listed(): 1\n",
        "models/b.py": '"""Of somebody."""\nclass Twice: ...\nclass _Own: ...\ndef listed(): ...\n',
        "models/doorbell.py": "x = 1  # noqa: A001\ny = 2  # noqa: A001 - the library's name\n",
        "models/c.py": "import lib.p, os\nlib.p._q(os._exit)\n",
        "tests/long.py": "\n" * 451,
        "README.md": "It rings a doorbell.\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert names.shared_classes(tmp_path) == ["Twice ×2: models.a, models.b"]
    assert names.shared_functions(tmp_path) == ["listed ×2: models.a, models.b"]
    private = ["models/a.py:1: lib._x", "models/a.py:2: lib._y.z", "models/c.py:2: lib.p._q"]
    assert names.private_imports(tmp_path) == private
    assert names.silenced_without_reason(tmp_path) == ["models/doorbell.py:1: # noqa: A001"]
    assert names.long_files(tmp_path) == ["tests/long.py: 451 lines"]
    assert names.riddles(tmp_path) == ["models/b.py:1: somebody"]
    assert names.dialect_in_prose(tmp_path) == ["README.md:1: rings", "README.md:1: doorbell"]
    assert names.dialect_in_names(tmp_path) == ["models/doorbell.py: doorbell"]


def test_texts_of_the_product_are_searched_for_riddles(tmp_path: Path) -> None:
    files = {
        "api/a.py": 'MESSAGE = "Nobody is here."\nPARTS = f"{somebody} is here, whoever asked"\n',
        "models/reading/lexicon.py": 'WORDS = ["somebody"]\n',
        "models/outreach/rules/sequences.py": 'TEXT = "We are looking for somebody like you."\n',
        "tests/test_a.py": 'NAME = "somebody"\n',
        "README.md": "The column `rings` belongs to `somebody`.\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert names.riddles(tmp_path) == ["api/a.py:1: Nobody", "api/a.py:2: whoever"]
    assert names.dialect_in_prose(tmp_path) == []
