"""What a reader writes down while it reads: values with their evidence, warnings, fields it cannot serve."""

from dataclasses import dataclass, field

from models.rules.intents import Evidence


@dataclass(slots=True)
class ReadingNotes:
    """Collected in order; nothing twice."""

    text: str
    evidence: list[Evidence] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)

    def read(self, name: str, value: str | int, *, start: int, end: int) -> None:
        """A value of a field, and the stretch of text it was read from."""
        self.evidence.append(Evidence(field=name, value=value, quote=self.text[start:end], start=start, end=end))

    def warn(self, text: str) -> None:
        """Something the caller should know before searching."""
        if text not in self.warnings:
            self.warnings.append(text)

    def ignore(self, name: str, why: str) -> None:
        """Something asked for that no filter can express."""
        if name not in self.ignored:
            self.ignored.append(name)
        self.warn(why)
