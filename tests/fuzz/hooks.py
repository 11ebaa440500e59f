"""Hooks that schemathesis loads: real ids and keys in valid requests, and a check of refusals."""

import atexit
import itertools
import json
import os
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import schemathesis
from schemathesis import Case, CheckContext, GenerationMode, HookContext, Response
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import CoveragePhaseData, CoverageScenario

from tests.fuzz.beyond_a_schema import reason_for
from tests.fuzz.world import ANSWERS_VARIABLE, IDS_VARIABLE, OWN_KEY_VARIABLE, WITHOUT_WORKERS_VARIABLE

IDS: dict[str, list[str]] = json.loads(os.environ[IDS_VARIABLE])
"""The ids of the workspace's objects, by their names in paths, queries and bodies."""

OWN_KEY = os.environ[OWN_KEY_VARIABLE]
"""The id of the calling key. Fuzzed calls can learn it by listing keys, and could revoke their own key with it."""

WITHOUT_WORKERS = os.environ.get(WITHOUT_WORKERS_VARIABLE) == "1"
WAITS_FOR_A_WORKER = {"people.search", "people.fetch", "companies.fetch", "people.match"}
"""Operations that need a worker for their answer. There is none, so they are previewed: each would wait 50 seconds."""

REAL = re.compile(r"^[a-z]+_[0-9a-z]{26}$")
INVENTED = re.compile(r"^[a-z]+_0{26}$")
CUSTOMER = "Service-Customer"
A_CUSTOMER = re.compile(r"cus_[0-9a-z]{26}")
KEY = "Idempotency-Key"
A_KEY = re.compile(r"[!-~]{1,255}")
ANSWERS = os.environ[ANSWERS_VARIABLE]
"""The file for the numbers of answers by operation and status."""

numbers = itertools.count()
answered: Counter[str] = Counter()
chance = random.Random(os.environ.get("FUZZ_SEED", "1"))


@schemathesis.hook
def before_call(context: HookContext, case: Case[Any], kwargs: dict[str, Any]) -> None:
    """Let requests reach the operation, and let valid ones name existing objects."""
    del context, kwargs
    if case.path_parameters and case.path_parameters.get("key_id") == OWN_KEY:
        case.path_parameters["key_id"] = chance.choice(IDS["key_id"])
    if _of_another_method(case):
        case.headers.pop(CUSTOMER, None)  # an unknown customer is not found, whatever the method
        return
    _admit(case)
    if case.meta is None or case.meta.generation.mode is not GenerationMode.POSITIVE:
        return
    for values in (case.path_parameters, case.query, case.body):
        if isinstance(values, dict):
            _name_real_objects(values)
    if WITHOUT_WORKERS and case.operation.definition.raw["operationId"] in WAITS_FOR_A_WORKER:
        case.query["dry_run"] = "true"


def _admit(case: Case[Any]) -> None:
    """Replace an unknown customer and set a new Idempotency-Key; otherwise no other part would be checked.

    The coverage phase puts "0" as customer into every request.
    """
    about = case.meta.phase.data.parameter_location if case.meta is not None else None
    if about is ParameterLocation.HEADER:
        return  # the tested fault is a wrong or missing header
    customer, key = case.headers.get(CUSTOMER), case.headers.get(KEY)
    if isinstance(customer, str) and (about is not None or A_CUSTOMER.fullmatch(customer)):
        if chance.random() < 0.1:
            case.headers[CUSTOMER] = chance.choice(IDS["customer_id"])
        elif chance.random() < 0.95:
            case.headers.pop(CUSTOMER)
    if chance.random() < 0.9 if key is None else isinstance(key, str) and A_KEY.fullmatch(key):
        case.headers[KEY] = f"fuzz-{os.getpid()}-{next(numbers)}"


@schemathesis.hook
def after_call(context: HookContext, case: Case[Any], response: Response) -> None:
    """Count the answers to described methods."""
    del context
    if not _of_another_method(case):
        name, meta = case.operation.definition.raw["operationId"], case.meta
        told = f"{meta.phase.name.value} {meta.generation.mode.value}" if meta else "unknown unknown"
        answered[f"{name} {told} {response.status_code}"] += 1


@atexit.register
def tell() -> None:
    """Write the counts for the process that started this one."""
    Path(ANSWERS).write_text(json.dumps(answered))


def _of_another_method(case: Case[Any]) -> bool:
    data = case.meta.phase.data if case.meta is not None else None
    return isinstance(data, CoveragePhaseData) and data.scenario is CoverageScenario.UNSPECIFIED_HTTP_METHOD


def _name_real_objects(values: dict[str, Any]) -> None:
    if "cursor" in values and chance.random() < 0.9:
        del values["cursor"]  # an invented one is refused before anything else is checked
    for name, value in values.items():
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, dict):
                _name_real_objects(inner)
        if name in IDS and isinstance(value, str) and _invented(value) and chance.random() < 0.9:
            values[name] = chance.choice(IDS[name])
        single = name.removesuffix("s")
        if single in IDS and isinstance(value, list) and value and chance.random() < 0.7:
            values[name] = [chance.choice(IDS[single]) if _invented(one) else one for one in value]


def _invented(value: Any) -> bool:
    """Return whether a cursor does not come from an earlier answer."""
    return isinstance(value, str) and (REAL.match(value) is None or INVENTED.match(value) is not None)


@schemathesis.check
def described_input_is_taken(ctx: CheckContext, response: Response, case: Case[Any]) -> bool | None:
    """Check that described input is accepted, or refused for a reason that a schema cannot express."""
    del ctx
    if case.meta is None or case.meta.generation.mode is not GenerationMode.POSITIVE or response.status_code != 400:
        return None
    if _of_another_method(case):
        return None
    error = response.json()["error"]
    if reason_for(error["code"], error["message"]) is None:
        field = error.get("details", {}).get("field")
        told = f"{error['code']}: {error['message']} (field {field})"
        raise AssertionError(f"the document allows it, and beyond_a_schema.py gives no reason: {told}")
    return None
