"""The notes a planner takes while it works: what was applied, what was ignored, what to warn about."""

from collections.abc import Collection
from dataclasses import dataclass, field

from models.rules.planner.values import AppliedFilter, Origin


@dataclass(slots=True)
class Notes:
    """Collected in order. `described` are the dotted fields read from a description."""

    described: Collection[str] = ()
    applied: list[AppliedFilter] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def apply(self, name: str, value: str | int | tuple[str, ...] | dict[str, int]) -> None:
        """A filter the caller or the description gave."""
        read = any(name == field or name.startswith(f"{field}.") for field in self.described)
        origin = Origin.DESCRIPTION if read else Origin.INTENT
        self.applied.append(AppliedFilter(field=name, value=value, origin=origin))

    def default(self, name: str, value: int | tuple[str, ...]) -> None:
        """A filter nobody gave."""
        self.applied.append(AppliedFilter(field=name, value=value, origin=Origin.DEFAULT))

    def ignore(self, name: str, why: str) -> None:
        """A field that has no effect, and why."""
        self.ignored.append(name)
        self.warn(why)

    def warn(self, text: str) -> None:
        """Something to read before paying."""
        self.warnings.append(text)

    def sorted_filters(self) -> tuple[AppliedFilter, ...]:
        """What was applied, block by block as an intent lists them, each in the order of its fields."""
        return tuple(sorted(self.applied, key=_place))


ORDER = ("titles", "location", "experience_years", "skills", "languages", "company_ids", "profile_ids")


def _place(applied: AppliedFilter) -> tuple[int, int]:
    block, _, field = applied.field.partition(".")
    name = field.split(".")[0]
    blocks = ("must", "nice", "exclude", "target_companies")
    return blocks.index(block), ORDER.index(name) if name else 0
