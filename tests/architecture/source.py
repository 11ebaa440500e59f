"""The product's syntax trees: modules, and the meaning of each of their names."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

PRODUCT = ("api", "activities", "workflows", "models", "worker.py")
ROOT = Path(__file__).parents[2]
MIGRATIONS = "models/migrations/versions/"
"""Migrations: written once, never called by the product."""


@dataclass(frozen=True, slots=True)
class Imported:
    """A name bound by an import: a module, or one name of it."""

    module: str
    name: str | None = None


@dataclass(eq=False, slots=True)
class Function:
    """A function or method, including the functions inside it."""

    module: "Module"
    name: str
    node: ast.FunctionDef | ast.AsyncFunctionDef
    owner: "Class | None" = None

    @property
    def is_property(self) -> bool:
        """Whether it is called by reading an attribute."""
        return any("property" in ast.unparse(decorator) for decorator in self.node.decorator_list)


@dataclass(eq=False, slots=True)
class Class:
    """A class with its own methods, and the expressions of its fields' types."""

    module: "Module"
    name: str
    node: ast.ClassDef
    methods: dict[str, Function] = field(default_factory=dict)
    fields: dict[str, ast.expr] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Value:
    """A constant, a registry or a type alias of a module."""

    module: "Module"
    name: str
    node: ast.expr
    annotation: ast.expr | None = None


@dataclass(eq=False, slots=True)
class Module:
    """One file."""

    name: str
    path: Path
    text: str
    tree: ast.Module
    names: "dict[str, Meaning]" = field(default_factory=dict)


Meaning = Function | Class | Value | Module | Imported


class Product:
    """Every module of the product below `root`."""

    def __init__(self, root: Path) -> None:
        self.modules: dict[str, Module] = {}
        for path in _files(root):
            parts = path.relative_to(root).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            text = path.read_text()
            module = Module(name, path.relative_to(root), text, ast.parse(text))
            self.modules[name] = module
            _bind(module)

    def functions(self) -> Iterator[Function]:
        """Yield every function and method."""
        for module in self.modules.values():
            for meaning in module.names.values():
                if isinstance(meaning, Function):
                    yield meaning
        for found in self.classes():
            yield from found.methods.values()

    def classes(self) -> Iterator[Class]:
        """Yield every class."""
        for module in self.modules.values():
            yield from (meaning for meaning in module.names.values() if isinstance(meaning, Class))

    def values(self) -> Iterator[Value]:
        """Yield every constant, registry and alias."""
        for module in self.modules.values():
            yield from (meaning for meaning in module.names.values() if isinstance(meaning, Value))

    def meaning(self, module: Module, expression: ast.expr) -> Meaning | None:
        """Return the meaning of a name or dotted name in a module; null if no module binds it.

        A name of a library stays `Imported`.
        """
        if isinstance(expression, ast.Name):
            return self.bound(module, expression.id)
        if isinstance(expression, ast.Attribute):
            outer = self.meaning(module, expression.value)
            if isinstance(outer, Module):
                return self.bound(outer, expression.attr) or self.modules.get(f"{outer.name}.{expression.attr}")
            if isinstance(outer, Imported):
                return outer
        return None

    def bound(self, module: Module, name: str) -> Meaning | None:
        """Return the meaning of a module's name, resolving imports."""
        found = module.names.get(name)
        if not isinstance(found, Imported):
            return found
        source = self.modules.get(found.module)
        if source is None:
            return self.modules.get(f"{found.module}.{found.name}") or found
        if found.name is None:
            return source
        inner = None if source.names.get(found.name) == found else self.bound(source, found.name)
        return inner or self.modules.get(f"{source.name}.{found.name}") or found


@cache
def product_of(root: Path) -> Product:
    """Return the product below a folder, read once."""
    return Product(root)


def _files(root: Path) -> Iterator[Path]:
    for top in PRODUCT:
        found = [root / top] if top.endswith(".py") else sorted((root / top).rglob("*.py"))
        for path in found:
            if path.exists() and not path.relative_to(root).as_posix().startswith(MIGRATIONS):
                yield path


def _bind(module: Module) -> None:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            _bind_import(module, node)
    for statement in _statements(module.tree.body):
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                module.names[statement.name] = Function(module, statement.name, statement)
            case ast.ClassDef():
                _bind_class(module, statement)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                module.names[name] = Value(module, name, value)
            case ast.AnnAssign(target=ast.Name(id=name), value=value, annotation=annotation):
                module.names[name] = Value(module, name, value or annotation, annotation)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module, including those below `if`, `with` and `try`."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If | ast.With | ast.Try):
            yield from _statements(statement.body)


def _bind_import(module: Module, node: ast.Import | ast.ImportFrom) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            whole = alias.name if alias.asname else alias.name.partition(".")[0]
            module.names[alias.asname or whole] = Imported(whole)
        return
    for alias in node.names:
        module.names[alias.asname or alias.name] = Imported(node.module or "", alias.name)


def _bind_class(module: Module, node: ast.ClassDef) -> None:
    made = Class(module, node.name, node)
    module.names[node.name] = made
    for statement in node.body:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                made.methods[statement.name] = Function(module, f"{node.name}.{statement.name}", statement, made)
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                made.fields[name] = annotation
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                made.fields[name] = value
