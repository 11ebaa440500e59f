"""The static call graph: the functions that a function calls, passes on, or finds in a registry.

Names are resolved through imports, aliases and re-exports. A method is found by the annotated type of its object, else
by its name if only one class of the product has a method of that name. Reading a property and creating an object are
calls. A method without a body leads to those of the subclasses. A call of a protocol ends there: its implementation (an
adapter, the shipped data) is counted separately.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property

from tests.architecture.source import Class, Function, Imported, Meaning, Module, Product, Value

Types = frozenset[Class] | None
"""The classes of the product of which a value may be an instance or a collection: empty for a value of a library, null
if unknown."""

NONE: frozenset[Class] = frozenset()
CONSTRUCTION = ("__init__", "__post_init__", "__new__")
CONTEXT = ("__enter__", "__exit__", "__aenter__", "__aexit__")
VALIDATOR = "validator"
QUOTED = re.compile(r"(?=.*[A-Z])[\w.\[\], |]+")
"""A string that may be an annotation of a class."""


class Calls:
    """Follows calls through a product."""

    def __init__(self, product: Product) -> None:
        self.product = product
        self._read: dict[Function, _Reading] = {}

    def called_by(self, function: Function) -> frozenset[Function]:
        """Return the functions that a function leads to."""
        return frozenset(self._reading(function).found - {function})

    def strings_in(self, function: Function) -> frozenset[str]:
        """Return the strings in a function and in the values it uses, including names of registries."""
        return frozenset(self._reading(function).strings)

    def _reading(self, function: Function) -> "_Reading":
        if function not in self._read:
            reading = self._read[function] = _Reading(self, function.module, function)
            reading.read(function.node)
        return self._read[function]

    @cached_property
    def by_method_name(self) -> dict[str, list[Function]]:
        """Methods by name."""
        found = defaultdict(list)
        for each in self.product.classes():
            for name, method in each.methods.items():
                found[name].append(method)
        return found

    @cached_property
    def subclasses(self) -> dict[Class, list[Class]]:
        """Direct subclasses."""
        found = defaultdict(list)
        for each in self.product.classes():
            for base in self.bases(each):
                found[base].append(each)
        return found

    @cached_property
    def by_public_name(self) -> dict[str, list[Function]]:
        """Functions by the names under which they are registered: operations, paths, workflows, steps.

        A name is a string that a decorator takes, of the function or of its class, or that a call at the top of a
        module takes together with the function: `Route("/callbacks/payments", receive)`.
        """
        found = defaultdict(list)
        for function in self.product.functions():
            for name in self._decorated_as(function.module, function.node.decorator_list):
                found[name].append(function)
        for each in self.product.classes():
            for name in self._decorated_as(each.module, each.node.decorator_list):
                found[name] += [method for method in each.methods.values() if method.node.decorator_list]
        for value in self.product.values():
            for call in (node for node in ast.walk(value.node) if isinstance(node, ast.Call)):
                handed = [self.product.meaning(value.module, one) for one in call.args]
                for name in self._strings(value.module, call):
                    found[name] += [one for one in handed if isinstance(one, Function)]
        return found

    def _decorated_as(self, module: Module, decorators: list[ast.expr]) -> Iterator[str]:
        for decorator in decorators:
            if isinstance(decorator, ast.Call):
                yield from self._strings(module, decorator)

    def _strings(self, module: Module, call: ast.Call) -> Iterator[str]:
        for given in (*call.args, *(keyword.value for keyword in call.keywords)):
            text = self.text(module, given)
            if text is not None:
                yield text

    def text(self, module: Module, expression: ast.expr) -> str | None:
        """Return the string value of an expression, resolving constants; null for any other expression."""
        match expression:
            case ast.Constant(value=str(text)):
                return text
            case ast.Name() | ast.Attribute():
                meant = self.product.meaning(module, expression)
                return self.text(meant.module, meant.node) if isinstance(meant, Value) else None
            case ast.FormattedValue(value=value):
                return self.text(module, value)
            case ast.JoinedStr(values=values):
                parts = [self.text(module, value) for value in values]
                return None if None in parts else "".join(part for part in parts if part is not None)
        return None

    def bases(self, each: Class) -> list[Class]:
        """Return the direct base classes that belong to the product."""
        nodes = [base.value if isinstance(base, ast.Subscript) else base for base in each.node.bases]
        meanings = [self.product.meaning(each.module, node) for node in nodes]
        return [meaning for meaning in meanings if isinstance(meaning, Class)]

    def member(self, each: Class, name: str) -> Function | tuple[Module, ast.expr] | None:
        """Return the method of a class or its bases, or the module and expression of the field's type."""
        if name in each.methods:
            return each.methods[name]
        if name in each.fields:
            return each.module, each.fields[name]
        maker = each.methods.get("__init__")
        if maker is not None and (given := _assigned(maker, name)) is not None:
            return maker.module, given
        inherited = (self.member(base, name) for base in self.bases(each))
        return next((found for found in inherited if found is not None), None)

    def methods(self, each: Class, name: str) -> list[Function]:
        """Return what a call of the method on an object of the class may run."""
        found = self.member(each, name)
        if any("Protocol" in ast.unparse(base) for base in each.node.bases):
            return []
        own = [found] if isinstance(found, Function) else []
        if own and not _is_empty(own[0]):
            return own
        return [one for other in self.subclasses.get(each, ()) for one in self.methods(other, name)] or own

    def construction(self, each: Class) -> list[Function]:
        """Return the functions that creating an object runs."""
        own = [
            method
            for name, method in each.methods.items()
            if name in CONSTRUCTION or any(VALIDATOR in ast.unparse(one) for one in method.node.decorator_list)
        ]
        return own + [one for base in self.bases(each) for one in self.construction(base)]


def _assigned(method: Function, name: str) -> ast.expr | None:
    """Return the expression assigned to `self.name`; for a parameter its annotation."""
    for node in ast.walk(method.node):
        match node:
            case ast.AnnAssign(target=ast.Attribute(value=ast.Name(id="self"), attr=attribute), annotation=annotation):
                if attribute == name:
                    return annotation
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=attribute)], value=value):
                if attribute == name:
                    return _annotation(method, value) or value
    return None


def _annotation(method: Function, value: ast.expr) -> ast.expr | None:
    if isinstance(value, ast.Name):
        for argument in _arguments(method.node.args):
            if argument.arg == value.id:
                return argument.annotation
    return None


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def _is_empty(function: Function) -> bool:
    return all(
        isinstance(statement, ast.Raise | ast.Pass)
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for statement in function.node.body
    )


class _Reading:
    """One pass over a function: the types of its names, and the functions found."""

    def __init__(self, calls: Calls, module: Module, function: Function | None) -> None:
        self.calls = calls
        self.product = calls.product
        self.module = module
        self.owner = function.owner if function else None
        self.found: set[Function] = set()
        self.strings: set[str] = set()
        self._values: set[Value] = set()
        self._typing: set[Value] = set()
        self._local: dict[str, list[ast.expr | None]] = defaultdict(list)
        self._asking: set[tuple[str, int]] = set()
        if function is not None:
            for node in ast.walk(function.node):
                for target, value in (*_assignments(node), *_captures(node)):
                    self._bind(target, value)

    # Local names.

    def _bind(self, target: ast.expr, value: ast.expr | None) -> None:
        match target, value:
            case ast.Name(id=name), _:
                self._local[name].append(value)
            case (ast.Tuple(elts=targets), ast.Tuple(elts=values)) if len(targets) == len(values):
                for one, given in zip(targets, values, strict=True):
                    self._bind(one, given)
            case ast.Tuple(elts=targets), _:
                for one in targets:
                    self._bind(one, value)

    # Types.

    def types(self, expression: ast.expr | None) -> Types:
        """Return the possible classes of a value; an annotation counts as a value of the named class."""
        match expression:
            case ast.Name() | ast.Attribute():
                return self._named(expression)
            case ast.Call():
                return self._answered(expression)
            case ast.Constant(value=str(text)):
                return self._quoted(text)
            case ast.Constant() | ast.JoinedStr() | ast.Compare():
                return NONE
        return _union([self.types(part) for part in _parts(expression)])

    def _local_types(self, name: str) -> Types:
        if name in {"self", "cls"} and self.owner is not None:
            return frozenset({self.owner})
        given = [one for one in self._local[name] if (name, id(one)) not in self._asking]
        self._asking |= {(name, id(one)) for one in given}
        found = _union([self.types(one) for one in given])
        self._asking -= {(name, id(one)) for one in given}
        return found

    def _quoted(self, text: str) -> Types:
        if not QUOTED.fullmatch(text):
            return NONE
        try:
            return self.types(ast.parse(text, mode="eval").body) or NONE
        except SyntaxError:
            return NONE

    def _named(self, expression: ast.Name | ast.Attribute) -> Types:
        if isinstance(expression, ast.Name) and expression.id in self._local:
            return self._local_types(expression.id)
        meaning = None if self._is_local(expression) else self.product.meaning(self.module, expression)
        if meaning is not None:
            return self._meant(meaning)
        if isinstance(expression, ast.Attribute):
            return self._of_attribute(self.types(expression.value), expression.attr)
        return None

    def _is_local(self, expression: ast.expr) -> bool:
        while isinstance(expression, ast.Attribute):
            expression = expression.value
        return isinstance(expression, ast.Name) and expression.id in self._local

    def _meant(self, meaning: Meaning) -> Types:
        match meaning:
            case Class():
                return frozenset({meaning})
            case Value(module=module, annotation=annotation, node=node):
                if meaning in self._typing:
                    return None
                self._typing.add(meaning)
                found = self._elsewhere(module, annotation) or self._elsewhere(module, node)
                self._typing.discard(meaning)
                return found
            case Function():
                return self._elsewhere(meaning.module, meaning.node.returns)
            case Imported(name="Any" | "TypeVar"):
                return None
            case _:
                return NONE

    def _elsewhere(self, module: Module, expression: ast.expr | None, owner: Class | None = None) -> Types:
        """Return the types of an expression in another module or outside this function."""
        other = _Reading(self.calls, module, None)
        other.owner = owner
        other._typing = self._typing
        return other.types(expression)

    def _of_attribute(self, types: Types, name: str) -> Types:
        """Return the types of an attribute; an attribute that a class lacks is a collection's, such as `.values()`."""
        if not types:
            return types
        found: list[Types] = []
        for each in types:
            member = self.calls.member(each, name)
            if isinstance(member, Function):
                returns = member.node.returns
                found.append(self._elsewhere(member.module, returns, each))
            elif member is not None:
                found.append(self._elsewhere(*member, each))
            else:
                found.append(frozenset({each}))
        return _union(found)

    def _answered(self, call: ast.Call) -> Types:
        """Return the types of a call's result; without annotations, those of its arguments."""
        answer = self._called_types(call.func)
        if answer:
            return answer
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        return _union([answer, *(self.types(one) for one in given)])

    def _called_types(self, called: ast.expr) -> Types:
        types = self.types(called)
        meaning = None if self._is_local(called) else self.product.meaning(self.module, called)
        if meaning is None and types:
            answers = [member for each in types if isinstance(member := self.calls.member(each, "__call__"), Function)]
            if answers:
                return _union([self._elsewhere(one.module, one.node.returns) for one in answers])
        return types

    # Functions.

    def read(self, node: ast.AST) -> None:
        """Find the functions that the code below a node leads to."""
        match node:
            case ast.Call(func=called):
                self._read_call(called)
                if isinstance(called, ast.Attribute):
                    self._read_unique(called)
            case ast.Name() | ast.Attribute():
                self._read_name(node)
            case ast.Constant(value=str(text)):
                self.strings.add(text)
            case ast.withitem(context_expr=value):
                for each in self.types(value) or ():
                    for name in CONTEXT:
                        self.found.update(self.calls.methods(each, name))
        for inner in _executed(node):
            self.read(inner)

    def _read_call(self, called: ast.expr) -> None:
        meaning = None if self._is_local(called) else self.product.meaning(self.module, called)
        if isinstance(meaning, Class):
            self.found.update(self.calls.construction(meaning))
        elif meaning is None or isinstance(meaning, Value):
            if isinstance(called, ast.Name) and called.id == "cls" and self.owner is not None:
                self.found.update(self.calls.construction(self.owner))
            for each in self.types(called) or ():
                self.found.update(self.calls.methods(each, "__call__"))

    def _read_name(self, expression: ast.Name | ast.Attribute) -> None:
        meaning = None if self._is_local(expression) else self.product.meaning(self.module, expression)
        match meaning:
            case Function():
                self.found.add(meaning)
            case Value() if meaning not in self._values:
                self._values.add(meaning)
                other = _Reading(self.calls, meaning.module, None)
                other._values = self._values
                other.read(meaning.node)
                self.found |= other.found
                self.strings |= other.strings
            case None if isinstance(expression, ast.Attribute):
                self._read_method(expression)

    def _read_method(self, expression: ast.Attribute) -> None:
        for each in self.types(expression.value) or ():
            self.found.update(self.calls.methods(each, expression.attr))

    def _read_unique(self, called: ast.Attribute) -> None:
        """Find a method of an object of unknown type if only one class has a method of that name."""
        meaning = None if self._is_local(called) else self.product.meaning(self.module, called)
        alike = self.calls.by_method_name.get(called.attr, [])
        if meaning is None and len(alike) == 1 and self.types(called.value) is None:
            self.found.add(alike[0])


def _assignments(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Yield targets with their source: the value, the iterated expression, or the annotation."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case ast.AnnAssign(target=target, annotation=annotation):
            yield target, annotation
        case ast.NamedExpr(target=target, value=value):
            yield target, value
        case ast.For() | ast.AsyncFor() | ast.comprehension():
            yield node.target, node.iter
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            yield target, value


def _captures(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Yield the names that parameters, handlers and patterns bind, with the expressions of their types."""
    match node:
        case ast.arguments():
            yield from ((ast.Name(argument.arg), argument.annotation) for argument in _arguments(node))
        case ast.ExceptHandler(type=kind, name=str(name)):
            yield ast.Name(name), kind
        case ast.MatchAs(pattern=ast.MatchClass(cls=kind), name=str(name)):
            yield ast.Name(name), kind
        case ast.MatchClass(cls=kind, kwd_attrs=attributes, kwd_patterns=patterns):
            for attribute, pattern in zip(attributes, patterns, strict=True):
                if isinstance(pattern, ast.MatchAs) and pattern.name:
                    yield ast.Name(pattern.name), ast.Attribute(kind, attribute)


def _parts(expression: ast.expr | None) -> list[ast.expr]:
    """Return the expressions from which the value of an expression may come."""
    match expression:
        case None:
            return []
        case ast.Subscript(value=value, slice=inner):
            return [value] if isinstance(inner, ast.Constant | ast.Slice | ast.UnaryOp) else [value, inner]
        case ast.Lambda(body=value) | ast.DictComp(value=value):
            return [value]
        case ast.ListComp(elt=value) | ast.SetComp(elt=value) | ast.GeneratorExp(elt=value):
            return [value]
        case ast.IfExp(body=body, orelse=other):
            return [body, other]
    return [one for one in ast.iter_child_nodes(expression) if isinstance(one, ast.expr)]


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the executed nodes inside a node: all except annotations."""
    for name, given in ast.iter_fields(node):
        if name not in {"annotation", "returns"}:
            for one in given if isinstance(given, list) else [given]:
                if isinstance(one, ast.AST):
                    yield one


def _union(types: Iterable[Types]) -> Types:
    known = [one for one in types if one is not None]
    return NONE.union(*known) if known else None
