"""What a tool is: a row over an operation, with its arguments, its answer, and hints for agents."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Generic, TypeVar

from mcp_types import Tool as Listed
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field, JsonValue, StringConstraints, TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from api.kernel.body import refused
from api.kernel.facts import filled
from api.kernel.operation import Effect, Operation
from api.kernel.schemas import Ask
from api.mcp.invocation import Invocation, Json, fingerprint
from api.mcp.schemas import plain_schema
from api.mcp.toolsets import Toolset
from api.mcp.words import describe_arguments

A = TypeVar("A", bound="Arguments")
B = TypeVar("B", bound=BaseModel)

Result = BaseModel | Json
CONTROL = frozenset({"confirm", "idempotency_key"})
"""Arguments that say whether and under which key a call is executed, not what it does."""

CONFIRM = "false (the default) previews: nothing is spent, sent or changed. true executes the call."
KEY = (
    "A call repeated with equal arguments within 24 hours is executed once and returns `replayed: true`. Give a new key"
    " of your own (1 to 255 visible characters) to do the same thing again on purpose."
)


class Arguments(Ask):
    """Arguments of a tool: strict, each described."""

    def canonical(self) -> bytes:
        """Return the same bytes for equal arguments; left out equals the default, except inside nested changes."""
        told = self.model_dump(mode="json", exclude_unset=True)
        for name, one in type(self).model_fields.items():
            if name not in told:
                told[name] = to_jsonable_python(one.get_default(call_default_factory=True))
        said = {name: value for name, value in told.items() if name not in CONTROL}
        return json.dumps(said, sort_keys=True, separators=(",", ":")).encode()

    def narrowed(self, to: type[B]) -> B:
        """Return an operation's input, made of the given arguments and the tool's own defaults."""
        fields = type(self).model_fields
        own = {name for name in fields.keys() & to.model_fields.keys() if fields[name] is not to.model_fields[name]}
        differ = {name for name in own if fields[name].get_default() != to.model_fields[name].get_default()}
        names = (self.model_fields_set | differ) & to.model_fields.keys()
        return asked_of(to, {name: getattr(self, name) for name in names})


def asked_of(to: type[B], given: Mapping[str, object]) -> B:
    """Return an operation's input. Raises `InvalidRequest` for values that only the tool's arguments allow."""
    try:
        return to.model_validate(given, by_name=True, by_alias=True)
    except ValidationError as error:
        raise refused(_problems(error), dict(given)) from None  # type: ignore[arg-type] # its values are JSON


def _problems(error: ValidationError) -> list[Any]:
    return error.errors(include_url=False, include_context=False, include_input=False)


class Confirming(Arguments):
    """Arguments of a tool that previews unless the call is confirmed."""

    confirm: bool = Field(default=False, description=CONFIRM)


class Executing(Confirming):
    """Arguments of a tool that spends or sends: executed once for each key."""

    idempotency_key: Annotated[str, StringConstraints(pattern=r"^[\x21-\x7e]{1,255}$")] | None = Field(
        default=None, description=KEY
    )


PREVIEWED: dict[str, Any] = {
    "dry_run": {"type": "boolean", "description": "True: nothing was done, this is what confirming would do."},
    "next_step": {"type": "string", "description": "What to call next, in words."},
}
"""Fields that the answers of previewing tools have in addition."""
DONE: dict[str, Any] = {
    "replayed": {"type": "boolean", "description": "True: this was done before, and not again."},
}
"""Fields that the answers of executing tools have in addition."""


@dataclass(frozen=True)
class Tool(Generic[A]):
    """One tool.

    The caller needs the scope of `operation`; `chosen` returns the operation where it depends on the raw arguments.
    `run` calls operations and returns the answer, whose type is `answers`. `names` maps the operation's field names to
    the tool's, for errors. `destructive`: the tool ends or removes something. `open_world`: it reaches people or
    sources outside, or shows what they wrote.
    """

    name: str
    title: str
    toolset: Toolset
    description: str
    arguments: type[A]
    answers: Any
    run: Callable[[Invocation, A], Awaitable[Result]]
    operation: Operation[Any, Any] | None
    chosen: Callable[[Mapping[str, JsonValue]], Operation[Any, Any]] | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    destructive: bool = False
    open_world: bool = False
    read_only: bool | None = None

    @property
    def executes(self) -> bool:
        """Whether the tool previews unless the call is confirmed."""
        return issubclass(self.arguments, Confirming)

    def called(self, given: Mapping[str, JsonValue]) -> Operation[Any, Any] | None:
        """Return the operation that these arguments call."""
        return self.chosen(given) if self.chosen else self.operation

    def read(self, given: Mapping[str, JsonValue]) -> A:
        """Return the checked arguments. Raises `InvalidRequest` with the dotted path of the first one refused."""
        text = json.dumps(given, ensure_ascii=False)
        try:
            return self.arguments.model_validate_json(text, strict=True)
        except ValidationError as error:
            raise refused(_problems(error), dict(given)) from None

    def fingerprint(self, asked: Arguments) -> bytes:
        """Return the hash of the tool and its canonical arguments, which a repeated key must come with."""
        return fingerprint(self.name, asked.canonical())

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments."""
        schema: dict[str, Any] = describe_arguments(
            plain_schema(self.arguments.model_json_schema(by_alias=True)), tool=self.name
        )
        fields = schema["properties"]
        how = {name: fields[name] for name in ("confirm", "idempotency_key") if name in fields}
        return schema | {"properties": {name: fields[name] for name in fields if name not in how} | how}

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the answer, an object in each of its forms."""
        schema = plain_schema(TypeAdapter(self.answers).json_schema(mode="serialization"))
        more = (PREVIEWED if self.executes else {}) | (DONE if issubclass(self.arguments, Executing) else {})
        return {"type": "object", **schema, "properties": schema.get("properties", {}) | more}

    @cached_property
    def listed(self) -> Listed:
        """Return the tool as `tools/list` shows it."""
        reads = not self.executes and (self.operation is None or self.operation.effect is Effect.READ)
        read_only = reads if self.read_only is None else self.read_only
        return Listed(
            name=self.name,
            title=self.title,
            description=filled(self.description),
            input_schema=self.input_schema,
            output_schema=self.output_schema,
            annotations=ToolAnnotations(
                title=self.title,
                read_only_hint=read_only,
                destructive_hint=self.destructive,
                idempotent_hint=read_only or self.executes,
                open_world_hint=self.open_world,
            ),
        )


def simple(operation: Operation[Any, Any], ask: Callable[[A], Any]) -> Callable[[Invocation, A], Awaitable[Json]]:
    """Return the function of a tool that is one operation: `ask` turns the arguments into its input."""

    async def run(call: Invocation, asked: A) -> Json:
        return await call.invoke(operation, ask(asked))

    return run
