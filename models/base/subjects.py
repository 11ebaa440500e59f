"""Subjects: the waiting rows whose time a workflow owns."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Subject:
    """A waiting row. Its workflow's id is `<kind>/<id>`."""

    kind: str
    id: str

    @property
    def workflow_id(self) -> str:
        """The id of the workflow that owns this row's time."""
        return f"{self.kind}/{self.id}"
