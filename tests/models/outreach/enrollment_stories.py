"""Stories of a state machine of enrollments: what happens around somebody's next call, as far as it is not drawn."""

from dataclasses import dataclass, fields

FORBIDS = ("manual", "opt_out", "erasure", "note")
EDITS = ("edit", "step removed", "step added", "approval changes", "sequence pauses")
WORDS = ("stop", "pause", "resume")
HOURS = (1, 30, 400)
FORBIDDEN = "forbidden"
"""Enrolled a moment after nothing may be sent to them any more."""
STAGES = ("enrolled", "invited", "accepted", "written to")
FIRST = (
    *["nothing"] * 3,
    *["acceptance"] * 3,
    *("untold acceptance", "untold reply", "reply", "poll", "resume", "resume", "pause", "step added"),
    *(f"{hours} h" for hours in HOURS),
)
BETWEEN = (
    *["nothing"] * 6,
    *("second worker", "reply", "untold reply", "acceptance", "stop", "pause", "time-out", "somebody else"),
    *("callback", *FORBIDS, *EDITS),
)
AFTER = ("nothing", "nothing", "late answer", "somebody else")
ANSWERS = ("done", "done", "done", "lost", "lost", "busy", "refused", "dies")
WRITTEN = ("now", "now", "now", "late", "never")
JUDGED = ("approve", "approve", "approve", "reject")


@dataclass(frozen=True)
class Story:
    """What may happen before the worker decides, between its decision and its claim, during its call and behind it.

    One of each is drawn. `whom`: how far the person has to be. `then`: what happens to the same person next.
    """

    first: tuple[str, ...] = FIRST
    before: tuple[str, ...] = BETWEEN
    during: tuple[str, ...] = BETWEEN
    answer: tuple[str, ...] = ANSWERS
    written: tuple[str, ...] = WRITTEN
    after: tuple[str, ...] = AFTER
    judged: tuple[str, ...] = JUDGED
    whom: tuple[str, ...] = STAGES
    then: "Story | None" = None

    def drawn(self, numbers: tuple[int, ...]) -> dict[str, str]:
        """One of each, by numbers that were drawn."""
        options = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "then"}
        return {name: of[number % len(of)] for (name, of), number in zip(options.items(), numbers, strict=True)}


QUIET = ("nothing",)
NOW = ("now",)
WAITING = ("accepted", "written to")
ANYBODY = ("enrolled", *WAITING)
PLAIN = Story(first=QUIET, before=QUIET, during=QUIET, answer=("done",), written=NOW, after=QUIET)
FREE = Story()
TWO_DECIDE_THE_SAME = Story(first=QUIET, before=("second worker",), whom=("enrolled", "accepted"), written=NOW)
THE_FIRST_ANSWER_COMES_DURING_THE_SECOND_CALL = Story(
    first=QUIET,
    before=QUIET,
    during=("time-out",),
    answer=("busy", "refused"),
    written=("late",),
    after=QUIET,
    whom=("enrolled", "accepted"),
    then=Story(first=QUIET, before=QUIET, during=("late answer",), answer=("done", "lost"), written=("late", "never")),
)
THE_ANSWER_COMES_WHEN_ALL_IS_OVER = Story(
    first=QUIET,
    before=QUIET,
    during=("time-out",),
    answer=("lost", "done", "dies"),
    written=("late",),
    after=QUIET,
    whom=("enrolled", "accepted"),
    then=Story(first=QUIET, before=("late answer",)),
)
IS_LOST = Story(
    first=QUIET, before=QUIET, answer=("lost", "dies"), written=("now", "never"), whom=("enrolled", *WAITING)
)
NOBODY_CAN_READ = Story(
    first=QUIET,
    before=QUIET,
    during=("fog",),
    answer=("lost", "dies"),
    written=("now", "never"),
    after=("pause", "nothing", "stop"),
    whom=ANYBODY,
    then=FREE,
)
IS_HELD_AND_NOBODY_CAN_READ = Story(
    first=("fog",),
    before=QUIET,
    during=("pause",),
    answer=("lost", "dies"),
    written=("now", "never"),
    after=QUIET,
    whom=("enrolled", "accepted"),
    then=PLAIN,
)
NEWS_WAITS = Story(first=QUIET, before=("callback",), whom=ANYBODY)
IS_FORBIDDEN_BETWEEN = Story(first=QUIET, before=("a row alone", *FORBIDS), then=PLAIN)
IS_STOPPED = Story(first=QUIET, before=("stop",), whom=ANYBODY, then=PLAIN)
IS_FORBIDDEN_DURING_A_LOST_CALL = Story(
    first=QUIET,
    before=QUIET,
    during=(*FORBIDS, "stop", "pause", "reply"),
    answer=("dies", "busy", "lost"),
    written=("now", "never"),
    whom=ANYBODY,
    then=PLAIN,
)
WAS_FORBIDDEN_BEFORE = Story(first=QUIET, before=QUIET, during=QUIET, whom=(FORBIDDEN,))
REPLIES = Story(
    first=QUIET, before=("untold reply", "untold reply", "reply"), whom=WAITING, answer=("done",), then=PLAIN
)
IS_HELD_BETWEEN = Story(first=QUIET, before=("pause", "sequence pauses"), then=Story(first=("resume",)))
IS_EDITED_BETWEEN = Story(first=QUIET, before=EDITS[:-1], answer=("done",), whom=ANYBODY)
IS_JUDGED = Story(
    first=("approval is asked for",), before=("edit", "nothing"), judged=("approve", "reject"), then=PLAIN
)
TWO_AT_ONCE = Story(
    first=QUIET,
    before=("both due",),
    during=("somebody else, slowly", "somebody else"),
    written=NOW,
    after=("somebody else",),
    answer=("done", "done", "busy"),
    whom=ANYBODY,
)
NOBODY_ACCEPTS = Story(first=("nothing", "400 h"), whom=("invited",), before=("nothing", "acceptance"), then=PLAIN)
STORIES = (
    TWO_AT_ONCE,
    TWO_AT_ONCE,
    TWO_DECIDE_THE_SAME,
    THE_FIRST_ANSWER_COMES_DURING_THE_SECOND_CALL,
    THE_FIRST_ANSWER_COMES_DURING_THE_SECOND_CALL,
    THE_ANSWER_COMES_WHEN_ALL_IS_OVER,
    IS_LOST,
    NOBODY_CAN_READ,
    IS_HELD_AND_NOBODY_CAN_READ,
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
    NOBODY_ACCEPTS,
    FREE,
    FREE,
)
"""Every history takes them in an order of its own."""
