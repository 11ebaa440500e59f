"""Opt-outs as a stream of lines, and the changelog between two versions of the data set."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import StreamingResponse

from sandbox.breakage import ConnectionCut
from sandbox.faults import FaultKind
from sandbox.people import ask as people_ask
from sandbox.people.gate import Call
from sandbox.people.population.build import Population
from sandbox.people.population.columns import DATASET_VERSION, PREVIOUS_VERSION
from sandbox.people.population.draws import mixed
from sandbox.people.presence import Fate, Presence
from sandbox.people.wire import Answer, ApiError

TYPES = ("added", "deleted", "updated", "merged", "opted_out")
UPDATED_FIELDS = (
    *("job_change", "education", "location"),
    *("personal_emails", "phone_number", "social_profile", "work_email"),
)
_PAGE = 1000
_MOST_IDS = 60_000
_LINES_PER_CHUNK = 200
_ENDLESS_CHUNK = b"x" * 65_536
_ENDLESS_CHUNKS = 1600
_ADDED_SHARE, _UPDATED_SHARE = 0.01, 0.03


@dataclass(frozen=True, slots=True)
class Feeds:
    """Answers the opt-out feed and the changelog."""

    population: Population
    presence: Presence

    def opt_outs(self, call: Call) -> StreamingResponse:
        """Stream one id per line; faults make the first line endless or cut the stream in the middle."""
        endless = call.strike(FaultKind.ENDLESS_LINE) is not None
        cut_off = call.strike(FaultKind.CUT_OFF) is not None
        lines = [f"{person_id}\n" for person_id in self.presence.ids_with(Fate.OPTED_OUT)]
        return StreamingResponse(_stream(lines, endless=endless, cut_off=cut_off), media_type="text/csv")

    def changelog(self, call: Call) -> Answer:
        """Return the changes of one type, or those of given ids, between the two known versions."""
        ask = call.ask
        self._check_versions(ask)
        wanted = self._wanted(ask)
        ids = ask.get("ids")
        changes = {name: self._changes(name) for name in wanted}
        fields = ask.get("fields_updated")
        if fields is not None:
            changes = _with_fields(changes, fields)
        if isinstance(ids, list):
            chosen = {str(item) for item in ids}
            changes = {name: [row for row in rows if row["id"] in chosen] for name, rows in changes.items()}
        start = _start(ask)
        longest = max(len(rows) for rows in changes.values())
        data: dict[str, Any] = {
            "type": ask.get("type"),
            "origin_version": PREVIOUS_VERSION,
            "current_version": DATASET_VERSION,
            "scroll_token": str(start + _PAGE) if start + _PAGE < longest else None,
        }
        page = {name: rows[start : start + _PAGE] for name, rows in changes.items()}
        return Answer({"status": 200, "data": data | page})

    def _check_versions(self, ask: Mapping[str, Any]) -> None:
        if (str(ask.get("origin_version")), str(ask.get("current_version"))) != (PREVIOUS_VERSION, DATASET_VERSION):
            raise _refused("origin_version and current_version must be consecutive known versions")

    def _wanted(self, ask: Mapping[str, Any]) -> tuple[str, ...]:
        kind, ids = people_ask.text(ask, "type"), ask.get("ids")
        if kind is None and ids is None:
            raise _refused("one of type and ids is needed")
        if kind is not None and kind not in TYPES:
            raise _refused(f"type must be one of {', '.join(TYPES)}")
        if ids is not None and (not isinstance(ids, list) or not 0 < len(ids) < _MOST_IDS):
            raise _refused(f"ids must be a list of fewer than {_MOST_IDS}")
        if ask.get("fields_updated") is not None and kind != "updated":
            raise _refused("fields_updated goes with type updated")
        return (kind,) if kind else TYPES

    def _changes(self, kind: str) -> list[dict[str, Any]]:
        if kind == "merged":
            return [{"id": old, "additional_metadata": {"to": [new]}} for old, new in self.presence.merges()]
        if kind in ("deleted", "opted_out"):
            fate = Fate.VANISHED if kind == "deleted" else Fate.OPTED_OUT
            return [{"id": person_id} for person_id in self.presence.ids_with(fate)]
        draws = self.population.columns.draws
        share = _ADDED_SHARE if kind == "added" else _UPDATED_SHARE
        numbers = [n for n in range(len(self.population)) if draws.unit_at(f"changelog {kind}", n) < share]
        if kind == "added":
            return [{"id": self.population.person_id(number)} for number in numbers]
        return [self._update(number) for number in numbers]

    def _update(self, number: int) -> dict[str, Any]:
        changed = UPDATED_FIELDS[mixed(number) % len(UPDATED_FIELDS)]
        return {
            "id": self.population.person_id(number),
            "additional_metadata": {"fields_updated": [changed], "contains": [changed]},
        }


def _refused(message: str) -> ApiError:
    return ApiError(
        400,
        message,
        valid_versions=[PREVIOUS_VERSION, DATASET_VERSION],
        valid_types=list(TYPES),
        valid_fields_updated=list(UPDATED_FIELDS),
    )


def _with_fields(changes: dict[str, list[dict[str, Any]]], fields: object) -> dict[str, list[dict[str, Any]]]:
    if not isinstance(fields, list) or not set(fields) <= set(UPDATED_FIELDS):
        raise _refused(f"fields_updated must be of {', '.join(UPDATED_FIELDS)}")
    return {
        name: [row for row in rows if set(row["additional_metadata"]["fields_updated"]) & set(fields)]
        for name, rows in changes.items()
    }


def _start(ask: Mapping[str, Any]) -> int:
    token = people_ask.text(ask, "scroll_token") or "0"
    if not token.isdigit():
        raise _refused("scroll_token is not valid")
    return int(token)


async def _stream(lines: list[str], *, endless: bool, cut_off: bool) -> AsyncIterator[bytes]:
    if endless:
        for _ in range(_ENDLESS_CHUNKS):
            yield _ENDLESS_CHUNK
    kept = lines[: len(lines) // 2] if cut_off else lines
    for start in range(0, len(kept), _LINES_PER_CHUNK):
        yield "".join(kept[start : start + _LINES_PER_CHUNK]).encode()
    if cut_off:
        # Half an id, as in an interrupted transfer.
        yield lines[len(kept)][:7].encode() if lines else b""
        raise ConnectionCut
