"""Outreach settings as they are asked for and shown (contract, section 7)."""

from collections.abc import Callable, Mapping
from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict
from pydantic.json_schema import SkipJsonSchema

from api.kernel.schemas import Answer, Ask
from models.outreach.rules.caps import CAPS, EARLIEST_HOUR, LATEST_HOUR, CapRule, OutreachCap, WorkingHours
from models.outreach.store.sequences import Rules

HOURS: JsonDict = {"minimum": EARLIEST_HOUR, "maximum": LATEST_HOUR}
DAYS: JsonDict = {"minItems": 1, "uniqueItems": True, "items": {"type": "integer", "minimum": 1, "maximum": 5}}


def cap_bounds(highest: Callable[[CapRule], int]) -> Callable[[JsonDict], None]:
    """Adds to a schema with caps what each may be at most."""

    def add(schema: JsonDict) -> None:
        fields = schema["properties"]
        for cap, rule in CAPS.items():
            described = fields[cap.value] if isinstance(fields, dict) else None
            if isinstance(described, dict):
                described.update({"minimum": 0, "maximum": highest(rule)})

    return add


CapValue = Annotated[int, Field(description="A whole number; null takes it away.")]


class CapFields(Ask):
    """Caps by name. A cap that is left out stays, `null` takes it away."""

    invites_per_day: CapValue | None = None
    invites_per_week: CapValue | None = None
    invites_without_note_per_week: CapValue | None = None
    profile_views_per_day: CapValue | None = None
    new_outreach_per_day: CapValue | None = None
    risk_acknowledged: bool = False

    def given(self) -> dict[OutreachCap, int | None]:
        """The caps that are in the request."""
        return {cap: getattr(self, cap.value) for cap in OutreachCap if cap.value in self.model_fields_set}


def changed_caps(caps: Mapping[str, int], given: Mapping[OutreachCap, int | None]) -> dict[str, int]:
    """Stored caps after a change."""
    values: dict[str, int | None] = {**caps, **{cap.value: value for cap, value in given.items()}}
    return {name: value for name, value in values.items() if value is not None}


class ChangeSettings(CapFields):
    """What may change in the settings. Caps here only lower, whatever `risk_acknowledged` says."""

    model_config = ConfigDict(json_schema_extra=cap_bounds(lambda rule: rule.default))

    time_zone: Annotated[str, Field(max_length=64, description="An IANA name.")] | SkipJsonSchema[None] = None
    start_hour: int | SkipJsonSchema[None] = Field(
        default=None, description="Whole hour from 8, local time.", json_schema_extra=HOURS
    )
    end_hour: int | SkipJsonSchema[None] = Field(
        default=None, description="Whole hour to 19, at least two after `start_hour`.", json_schema_extra=HOURS
    )
    days: Annotated[list[int], Field(max_length=7)] | SkipJsonSchema[None] = Field(
        default=None, description="1 (Monday) to 5 (Friday), at least one.", json_schema_extra=DAYS
    )


class SettingsView(Answer):
    """The working hours, and the caps that were lowered; `null` where the default holds."""

    id: Literal["outreach_settings"] = "outreach_settings"
    object: Literal["outreach_settings"] = "outreach_settings"
    time_zone: str
    start_hour: int
    end_hour: int
    days: list[int]
    invites_per_day: int | None
    invites_per_week: int | None
    invites_without_note_per_week: int | None
    profile_views_per_day: int | None
    new_outreach_per_day: int | None

    @classmethod
    def of(cls, rules: Rules) -> "SettingsView":
        """The settings as they are shown."""
        return cls(
            time_zone=rules.hours.zone,
            start_hour=rules.hours.start_hour,
            end_hour=rules.hours.end_hour,
            days=list(rules.hours.days),
            **{cap.value: rules.caps.get(cap) for cap in OutreachCap},
        )


class HoursView(Answer):
    """When an account writes: local hours on weekdays, Monday is 1."""

    start_hour: int
    end_hour: int
    days: list[int]

    @classmethod
    def of(cls, hours: WorkingHours) -> "HoursView":
        """The hours as they are shown."""
        return cls(start_hour=hours.start_hour, end_hour=hours.end_hour, days=list(hours.days))
