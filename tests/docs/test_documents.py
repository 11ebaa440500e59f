"""Every file, command and decision that a document names exists."""

import re
from collections import Counter
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    str(path.relative_to(PROJECT)) for path in (*(PROJECT / "docs").rglob("*.md"), *PROJECT.glob("*.md"))
)
TARGETS = set(re.findall(r"^([a-z-]+):", (PROJECT / "Makefile").read_text(), re.MULTILINE))
GENERATED = [line.strip("/") for line in (PROJECT / ".gitignore").read_text().split()]
ABSENT = {"uv.lock"}
"""Files that a document names because they do not exist."""
TOP = {path.name for path in PROJECT.iterdir()}
SUFFIXES = (".py", ".md", ".yml", ".yaml", ".json", ".toml", ".sh", ".lock", ".svg")

FENCED = re.compile(r"^ *```[^\n]*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\]\(([^)\s#]+)[^)]*\)")
MAKE = re.compile(r"(?:^|[\s(;&])make ([a-z][a-z-]*)")
MODULE = re.compile(r"python3? -m ([\w.]+)")
PATH = re.compile(r"(?<![\w./$<>{}:*-])[\w.*-]+(?:/[\w.*-]+)*/?(?![\w./$<>{}*-])")


def code(text: str) -> list[str]:
    """Return the fenced blocks and the inline code of a Markdown document."""
    return FENCED.findall(text) + [re.sub(r"\s+", " ", span) for span in INLINE.findall(FENCED.sub("", text))]


def paths(text: str) -> set[str]:
    """Return the paths of the repository that the code of a document names, without generated files."""
    found = {path.strip("./") if path.endswith(".") else path for span in code(text) for path in PATH.findall(span)}
    return {
        path
        for path in found - ABSENT
        if (path.endswith(SUFFIXES) and not path.startswith("*")) or ("/" in path and path.split("/")[0] in TOP)
        if not any(fnmatch(part, pattern) for part in (path, path.split("/")[0]) for pattern in GENERATED)
    }


def runs(module: str) -> bool:
    """Whether `python -m` runs this module."""
    try:
        spec = find_spec(module)
        is_package = spec is not None and spec.submodule_search_locations is not None
        return spec is not None and (not is_package or find_spec(f"{module}.__main__") is not None)
    except ModuleNotFoundError:
        return False


def test_no_document_repeats_a_price() -> None:
    """The changelog alone says what a price was; the present one is in the price list."""
    for name in set(DOCUMENTS) - {"CHANGELOG.md"}:
        assert not re.findall(r"\d ?(?:EUR|€|euros?)\b", (PROJECT / name).read_text()), name


@pytest.fixture(params=DOCUMENTS)
def document(request: pytest.FixtureRequest) -> Path:
    return PROJECT / str(request.param)


def test_code_of_a_document_is_read() -> None:
    text = "Run `make\ntest`, `python -m stack up` and\n```\nmake demo # see tests/api/\n```\n`api/app.py`, `/v1/runs`."
    assert paths(text) == {"tests/api/", "api/app.py"}
    assert [MAKE.findall(span) for span in code(text)][:2] == [["demo"], ["test"]]
    assert [module for span in code(text) for module in MODULE.findall(span)] == ["stack"]
    assert runs("stack")
    assert runs("models.erase")
    assert not runs("models.rules")
    assert not runs("no.such")


def test_files_exist(document: Path) -> None:
    assert [path for path in sorted(paths(document.read_text())) if not list(PROJECT.glob(path.rstrip("/")))] == []


def test_links_lead_to_files(document: Path) -> None:
    links = [link for link in LINK.findall(document.read_text()) if "://" not in link]
    assert [link for link in links if not (document.parent / link).exists()] == []


def test_make_targets_exist(document: Path) -> None:
    named = {target for span in code(document.read_text()) for target in MAKE.findall(span)}
    assert named - TARGETS == set()


def test_modules_can_be_run(document: Path) -> None:
    named = {module for span in code(document.read_text()) for module in MODULE.findall(span)}
    assert [module for module in sorted(named) if not runs(module)] == []


DECISION = re.compile(r"^## (\d{3})\. (.+)\n\n((?:(?!^## ).*\n?)*)", re.MULTILINE)
HEADING = re.compile(r"^## ", re.MULTILINE)
REFERENCE = re.compile(r"^(?:\*\*Superseded by\*\*|\*\*Changed in part:\*\*|Supersedes) (\d{3})", re.MULTILINE)
SUPERSEDED_BY = re.compile(r"^\*\*Superseded by\*\* (\d{3})", re.MULTILINE)
SUPERSEDES = re.compile(r"^Supersedes (\d{3})", re.MULTILINE)
TOPICS = sorted(path for path in (PROJECT / "docs" / "decisions").glob("*.md") if path.name != "README.md")


def test_decisions_are_numbered_once_without_a_gap() -> None:
    numbers = [int(number) for topic in TOPICS for number, _, _ in DECISION.findall(topic.read_text())]
    assert [number for number, times in Counter(numbers).items() if times > 1] == []
    assert sorted(numbers) == list(range(1, max(numbers) + 1))


@pytest.mark.parametrize("topic", [path.name for path in TOPICS])
def test_each_decision_is_complete(topic: str) -> None:
    text = (PROJECT / "docs" / "decisions" / topic).read_text()
    decisions = DECISION.findall(text)
    assert len(decisions) == len(HEADING.findall(text))
    whole = re.compile(r"\*\*Decision\.\*\* .*\*\*Reason\.\*\* .*\*\*Date\.\*\* \d{4}-\d\d-\d\d", re.DOTALL)
    assert [number for number, _, body in decisions if not whole.match(body)] == []
    numbers = [int(number) for number, _, _ in decisions]
    assert numbers == sorted(numbers)


def test_decisions_refer_to_each_other() -> None:
    """Every number that a decision names exists; a decision and the one that replaces it name each other."""
    bodies = {number: body for topic in TOPICS for number, _, body in DECISION.findall(topic.read_text())}
    assert {other for body in bodies.values() for other in REFERENCE.findall(body)} <= set(bodies)
    replaced = {(old, new) for old, body in bodies.items() for new in SUPERSEDED_BY.findall(body)}
    replacing = {(old, new) for new, body in bodies.items() for old in SUPERSEDES.findall(body)}
    assert replaced == replacing


def test_the_index_lists_every_topic() -> None:
    index = (PROJECT / "docs" / "decisions" / "README.md").read_text()
    assert set(LINK.findall(index)) == {path.name for path in TOPICS}
