"""Obstacles for readers: names with several meanings, private parts of libraries, words of our own.

Each check returns its offenders, one line each.
"""

import ast
import io
import os
import re
import tokenize
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from tests.architecture.source import MIGRATIONS, PRODUCT, ROOT, Class, Function, product_of

LONGEST = 450
"""Most lines of a file."""
OURS = ("api", "activities", "workflows", "models", "worker", "stack", "sandbox", "benchmarks", "tests")
DOCUMENTED = {"os._exit"}
"""Names that look private but that their library documents for use."""
SKIPPED = {"node_modules", "__pycache__"}
PLAIN = re.compile(r"\b(somebody|nobody|whoever|anew)\b", re.IGNORECASE)
DIALECT = (
    r"rings?|rung|doorbells?|scenes?|parcels?|purses?|retold|happenings?|temper|surroundings|persons|casualties"
    r"|weather|handing[ _]on|held[ _]text"
)
"""Words for which the field has a plainer one. No pattern can judge those that are common verbs (hold, reach, tell)."""
QUOTED = re.compile(r"`[^`]*`")
NOT_OUR_TEXT = ("models/reading/", "models/outreach/rules/sequences.py")
"""Files whose literals are words of candidates and advertisements, or messages in a recruiter's words."""
IN_PROSE = re.compile(rf"\b({DIALECT})\b", re.IGNORECASE)
IN_NAME = re.compile(rf"(?<![a-z])({DIALECT})(?![a-z])")
CODES = r"[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*"
SILENCED = re.compile(rf"#\s*(?:ruff:\s*)?noqa(?::\s*{CODES})?|#\s*type:\s*ignore(?:\[[^\]]*\])?")


def shared_classes(root: Path = ROOT) -> list[str]:
    """Return the names that several public classes of the product share."""
    return _shared((each.name, each.module.name) for each in product_of(root).classes())


def shared_functions(root: Path = ROOT) -> list[str]:
    """Return the names that public functions of several modules of the product share, except `main`."""
    found = (meaning for module in product_of(root).modules.values() for meaning in module.names.values())
    functions = (one for one in found if isinstance(one, Function) and one.name != "main")
    return _shared((one.name, one.module.name) for one in functions)


def dialect_in_names(root: Path = ROOT) -> list[str]:
    """Return the modules, classes and functions of the product whose names contain a word of our own."""
    found = []
    for module in product_of(root).modules.values():
        called = {module.name.rpartition(".")[2]}
        for meaning in module.names.values():
            if isinstance(meaning, Class | Function):
                called.add(meaning.name)
            if isinstance(meaning, Class):
                called.update(meaning.methods)
        found += [f"{module.path}: {name}" for name in sorted(called) if IN_NAME.search(_snake(name))]
    return found


def private_imports(root: Path = ROOT) -> list[str]:
    """Return where a private module or name of a library is imported, or used as an attribute."""
    found = []
    for path, tree in _trees(root):
        imported: dict[str, str] = {}
        used: list[tuple[int, str]] = []
        for node in ast.walk(tree):
            match node:
                case ast.ImportFrom(module=str(module), names=names, level=0):
                    imported |= {alias.asname or alias.name: f"{module}.{alias.name}" for alias in names}
                    used += [(node.lineno, f"{module}.{alias.name}") for alias in names]
                case ast.Import(names=names):
                    imported |= {alias.asname or alias.name: alias.name for alias in names}
                    used += [(node.lineno, alias.name) for alias in names]
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(attr=attr, value=owner) if attr.startswith("_") and ast.unparse(owner) in imported:
                    used.append((node.lineno, f"{imported[ast.unparse(owner)]}.{attr}"))
        found += [f"{path}:{line}: {name}" for line, name in used if _is_private(name) and name not in DOCUMENTED]
    return found


def silenced_without_reason(root: Path = ROOT) -> list[str]:
    """Return the comments that silence a linter or the type checker without a reason."""
    return [
        f"{path}:{line}: {comment}"
        for path, line, comment in _comments(root)
        if SILENCED.search(comment) and not re.search(r"\w", SILENCED.sub("", comment))
    ]


def long_files(root: Path = ROOT) -> list[str]:
    """Return the files with more than `LONGEST` lines."""
    lengths = {path: (root / path).read_text().count("\n") for path in _python(root)}
    return [f"{path}: {length} lines" for path, length in lengths.items() if length > LONGEST]


def riddles(root: Path = ROOT) -> list[str]:
    """Return where prose and the product's own texts say `somebody` and the like instead of the noun."""
    return _matches(_prose(root) + _literals(root), PLAIN)


def dialect_in_prose(root: Path = ROOT) -> list[str]:
    """Return where comments, docstrings and documents use a word of our own for which the field has one."""
    return _matches(_prose(root), IN_PROSE)


CHECKS: dict[str, Callable[[], list[str]]] = {
    check.__name__: check
    for check in (
        shared_classes,
        shared_functions,
        dialect_in_names,
        private_imports,
        silenced_without_reason,
        long_files,
        riddles,
        dialect_in_prose,
    )
}

CEILINGS = {
    "shared_classes": 0,
    "shared_functions": 0,
    "dialect_in_names": 0,
    "private_imports": 0,
    "silenced_without_reason": 0,
    "long_files": 0,
    "riddles": 0,
    "dialect_in_prose": 0,
}
"""Most offenders of each check; only ever lowered."""


def _shared(names: Iterator[tuple[str, str]]) -> list[str]:
    places: dict[str, list[str]] = defaultdict(list)
    for name, module in names:
        if not name.startswith("_"):
            places[name].append(module)
    several = sorted(places.items(), key=lambda one: (-len(one[1]), one[0]))
    return [f"{name} ×{len(modules)}: {', '.join(modules)}" for name, modules in several if len(modules) > 1]


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _is_private(dotted: str) -> bool:
    first, *parts = dotted.split(".")
    return first not in OURS and any(part.startswith("_") and not part.startswith("__") for part in (first, *parts))


def _matches(lines: list[tuple[Path, int, str]], words: re.Pattern[str]) -> list[str]:
    """Return where the words occur, except in back quotes, which quote names of the code."""
    return [
        f"{path}:{line}: {found.group()}"
        for path, line, text in lines
        for found in words.finditer(QUOTED.sub("", text))
    ]


@cache
def _prose(root: Path) -> list[tuple[Path, int, str]]:
    """Return every line of documents, docstrings and comments."""
    found = []
    for path in _files(root, ".md"):
        found += [(path, number, line) for number, line in enumerate((root / path).read_text().splitlines(), 1)]
    for path, tree in _trees(root):
        found += [(path, *one) for one in _docstrings(tree)]
    return found + _comments(root)


def _literals(root: Path) -> list[tuple[Path, int, str]]:
    """Return every line of the product's string literals, except where they are not our words."""
    found = []
    for path, tree in _trees(root):
        if path.parts[0] not in PRODUCT or path.as_posix().startswith(NOT_OUR_TEXT):
            continue
        prose = {id(node) for node in _statements(tree)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
                found += [(path, *one) for one in enumerate(node.value.splitlines(), node.lineno)]
    return found


def _docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in _statements(tree):
        yield from enumerate(str(node.value).splitlines(), node.lineno)


def _statements(tree: ast.Module) -> Iterator[ast.Constant]:
    """Yield each text that is a statement: docstrings, and descriptions below constants."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value


@cache
def _comments(root: Path) -> list[tuple[Path, int, str]]:
    found = []
    for path in _python(root):
        text = (root / path).read_text()
        if "#" in text:
            tokens = tokenize.generate_tokens(io.StringIO(text).readline)
            found += [(path, one.start[0], one.string) for one in tokens if one.type == tokenize.COMMENT]
    return found


@cache
def _trees(root: Path) -> list[tuple[Path, ast.Module]]:
    return [(path, ast.parse((root / path).read_text())) for path in _python(root)]


def _python(root: Path) -> list[Path]:
    return [path for path in _files(root, ".py") if not path.as_posix().startswith(MIGRATIONS)]


@cache
def _files(root: Path, suffix: str) -> list[Path]:
    """Return the project's own files, without those that tools have created."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in SKIPPED)
        found += [Path(folder, name).relative_to(root) for name in sorted(names) if name.endswith(suffix)]
    return found
