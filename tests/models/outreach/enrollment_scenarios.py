"""Scenarios of the enrollment state machine: the fixed parts of what occurs around a person's next call."""

from dataclasses import dataclass, fields

FORBIDS = ("manual", "opt_out", "erasure", "note")
EDITS = ("edit", "step removed", "step added", "approval changes", "sequence pauses")
COMMANDS = ("stop", "pause", "resume")
HOURS = (1, 30, 400)
FORBIDDEN = "forbidden"
"""The stage of a person enrolled a moment after sends to them were forbidden."""
STAGES = ("enrolled", "invited", "accepted", "written to")
FIRST = (
    *["nothing"] * 3,
    *["acceptance"] * 3,
    *("untold acceptance", "untold reply", "reply", "poll", "resume", "resume", "pause", "step added"),
    *(f"{hours} h" for hours in HOURS),
)
BETWEEN = (
    *["nothing"] * 6,
    *("second worker", "reply", "untold reply", "acceptance", "stop", "pause", "time-out", "another worker"),
    *("callback", *FORBIDS, *EDITS),
)
AFTER = ("nothing", "nothing", "late answer", "another worker")
ANSWERS = ("done", "done", "done", "lost", "lost", "busy", "refused", "dies")
WRITTEN = ("now", "now", "now", "late", "never")
JUDGED = ("approve", "approve", "approve", "reject")


@dataclass(frozen=True)
class Scenario:
    """What may occur before the worker decides, between its decision and its claim, during its call and after it.

    One of each is drawn. `whom`: the stages of the person. `then`: the next scenario of the same person.
    """

    first: tuple[str, ...] = FIRST
    before: tuple[str, ...] = BETWEEN
    during: tuple[str, ...] = BETWEEN
    answer: tuple[str, ...] = ANSWERS
    written: tuple[str, ...] = WRITTEN
    after: tuple[str, ...] = AFTER
    judged: tuple[str, ...] = JUDGED
    whom: tuple[str, ...] = STAGES
    then: "Scenario | None" = None

    def drawn(self, numbers: tuple[int, ...]) -> dict[str, str]:
        """Return one of each, by numbers that were drawn."""
        options = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "then"}
        return {name: of[number % len(of)] for (name, of), number in zip(options.items(), numbers, strict=True)}


QUIET = ("nothing",)
NOW = ("now",)
WAITING = ("accepted", "written to")
ANY_STAGE = ("enrolled", *WAITING)
PLAIN = Scenario(first=QUIET, before=QUIET, during=QUIET, answer=("done",), written=NOW, after=QUIET)
FREE = Scenario()
TWO_DECIDE_THE_SAME = Scenario(first=QUIET, before=("second worker",), whom=("enrolled", "accepted"), written=NOW)
THE_FIRST_ANSWER_COMES_DURING_THE_SECOND_CALL = Scenario(
    first=QUIET,
    before=QUIET,
    during=("time-out",),
    answer=("busy", "refused"),
    written=("late",),
    after=QUIET,
    whom=("enrolled", "accepted"),
    then=Scenario(
        first=QUIET, before=QUIET, during=("late answer",), answer=("done", "lost"), written=("late", "never")
    ),
)
THE_ANSWER_COMES_WHEN_ALL_IS_OVER = Scenario(
    first=QUIET,
    before=QUIET,
    during=("time-out",),
    answer=("lost", "done", "dies"),
    written=("late",),
    after=QUIET,
    whom=("enrolled", "accepted"),
    then=Scenario(first=QUIET, before=("late answer",)),
)
IS_LOST = Scenario(
    first=QUIET, before=QUIET, answer=("lost", "dies"), written=("now", "never"), whom=("enrolled", *WAITING)
)
NO_READING_BACK = Scenario(
    first=QUIET,
    before=QUIET,
    during=("fog",),
    answer=("lost", "dies"),
    written=("now", "never"),
    after=("pause", "nothing", "stop"),
    whom=ANY_STAGE,
    then=FREE,
)
IS_PAUSED_WITHOUT_READING_BACK = Scenario(
    first=("fog",),
    before=QUIET,
    during=("pause",),
    answer=("lost", "dies"),
    written=("now", "never"),
    after=QUIET,
    whom=("enrolled", "accepted"),
    then=PLAIN,
)
NEWS_WAITS = Scenario(first=QUIET, before=("callback",), whom=ANY_STAGE)
IS_FORBIDDEN_BETWEEN = Scenario(first=QUIET, before=("a row alone", *FORBIDS), then=PLAIN)
IS_STOPPED = Scenario(first=QUIET, before=("stop",), whom=ANY_STAGE, then=PLAIN)
IS_FORBIDDEN_DURING_A_LOST_CALL = Scenario(
    first=QUIET,
    before=QUIET,
    during=(*FORBIDS, "stop", "pause", "reply"),
    answer=("dies", "busy", "lost"),
    written=("now", "never"),
    whom=ANY_STAGE,
    then=PLAIN,
)
WAS_FORBIDDEN_BEFORE = Scenario(first=QUIET, before=QUIET, during=QUIET, whom=(FORBIDDEN,))
REPLIES = Scenario(
    first=QUIET, before=("untold reply", "untold reply", "reply"), whom=WAITING, answer=("done",), then=PLAIN
)
IS_HELD_BETWEEN = Scenario(first=QUIET, before=("pause", "sequence pauses"), then=Scenario(first=("resume",)))
IS_EDITED_BETWEEN = Scenario(first=QUIET, before=EDITS[:-1], answer=("done",), whom=ANY_STAGE)
IS_JUDGED = Scenario(
    first=("approval is asked for",), before=("edit", "nothing"), judged=("approve", "reject"), then=PLAIN
)
TWO_AT_ONCE = Scenario(
    first=QUIET,
    before=("both due",),
    during=("another worker, slowly", "another worker"),
    written=NOW,
    after=("another worker",),
    answer=("done", "done", "busy"),
    whom=ANY_STAGE,
)
NO_ACCEPTANCE = Scenario(first=("nothing", "400 h"), whom=("invited",), before=("nothing", "acceptance"), then=PLAIN)
SCENARIOS = (
    TWO_AT_ONCE,
    TWO_AT_ONCE,
    TWO_DECIDE_THE_SAME,
    THE_FIRST_ANSWER_COMES_DURING_THE_SECOND_CALL,
    THE_FIRST_ANSWER_COMES_DURING_THE_SECOND_CALL,
    THE_ANSWER_COMES_WHEN_ALL_IS_OVER,
    IS_LOST,
    NO_READING_BACK,
    IS_PAUSED_WITHOUT_READING_BACK,
    NEWS_WAITS,
    IS_FORBIDDEN_BETWEEN,
    IS_STOPPED,
    IS_FORBIDDEN_DURING_A_LOST_CALL,
    WAS_FORBIDDEN_BEFORE,
    REPLIES,
    IS_HELD_BETWEEN,
    IS_EDITED_BETWEEN,
    IS_EDITED_BETWEEN,
    IS_JUDGED,
    NO_ACCEPTANCE,
    FREE,
    FREE,
)
"""Every history takes them in an order of its own."""
