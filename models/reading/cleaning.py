"""Turn the text given into the text that is read: no markup, numbering, emoji or invisible characters.

Every step replaces what one pattern matches and remembers where, so that a stretch of the result leads back to the
text given. The patterns are possessive where they repeat: each step takes linear time.
"""

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from models.reading.languages import AND, OR

Span = tuple[int, int]
Match = re.Match[str]


@dataclass(frozen=True, slots=True)
class Replacements:
    """What one step replaced, in order: where each stretch stands in its result, and where it stood before."""

    after: list[Span] = field(default_factory=list)
    before: list[Span] = field(default_factory=list)

    def back(self, start: int, end: int) -> Span:
        """Return the stretch before the step that became the one from `start` to `end`."""
        return self._position(start, last=False), self._position(end - 1, last=True)

    def _position(self, offset: int, *, last: bool) -> int:
        """Return where the character at an offset began, or for the `last` one of a stretch, where it ended."""
        at = bisect_right(self.after, offset, key=lambda span: span[0]) - 1
        if at < 0:
            return offset + last
        if offset < self.after[at][1]:
            return self.before[at][last]
        return self.before[at][1] + offset - self.after[at][1] + last


@dataclass(frozen=True, slots=True)
class CleanText:
    """The text that is read; `items` are the offsets in it at which items of bulleted lists begin."""

    text: str
    items: frozenset[int]
    steps: tuple[Replacements, ...]

    def given(self, start: int, end: int) -> Span:
        """Return the offsets in the text given of a stretch of `text` that is not empty."""
        for step in reversed(self.steps):
            start, end = step.back(start, end)
        return start, end


def clean_text(given: str) -> CleanText:
    """Return the text that is read, with the way back to the text given."""
    text, steps = given, list[Replacements]()
    for _ in range(MOST_ESCAPED):
        for pattern, new in MARKUP:
            text, step = _replaced(text, pattern, new)
            steps.append(step)
        if not steps[-1].after:
            break
    for pattern, new in FORMS:
        text, step = _replaced(text, pattern, new)
        steps.append(step)
    marked = text
    text, step = _replaced(marked, MARKER, lambda _: "")
    bulleted = {
        start for (start, _), before in zip(step.after, step.before, strict=True) if BULLET.search(marked, *before)
    }
    # where even the first line is an item, the whole text is a list, and its bullets say nothing
    items = frozenset() if 0 in bulleted else frozenset(bulleted)
    return CleanText(text, items, tuple(step for step in (*steps, step) if step.after))


def _replaced(text: str, pattern: re.Pattern[str], new: Callable[[Match], str]) -> tuple[str, Replacements]:
    kept, done = list[str](), Replacements()
    reached = length = 0
    for found in pattern.finditer(text):
        replacement = new(found)
        if replacement == found.group():
            continue
        kept += text[reached : found.start()], replacement
        start = length + found.start() - reached
        length, reached = start + len(replacement), found.end()
        done.after.append((start, length))
        done.before.append(found.span())
    kept.append(text[reached:])
    return "".join(kept), done


# HTML: a run of tags is a line break when one of them parts blocks; blank lines stay blank lines.

_BLOCKS = (
    "address|article|aside|blockquote|body|br|caption|center|dd|details|div|dl|dt|fieldset|figcaption|figure|"
    "footer|form|h1|h2|h3|h4|h5|h6|head|header|hr|html|legend|main|nav|ol|option|p|pre|section|select|summary|"
    "table|tbody|tfoot|thead|title|tr|ul|li"
)
_INLINE = (
    "a|abbr|audio|b|button|canvas|cite|code|col|colgroup|del|em|embed|font|i|iframe|img|input|ins|kbd|label|link|"
    "mark|meta|noscript|object|picture|q|s|samp|script|small|source|span|strike|strong|style|sub|sup|svg|path|"
    "template|textarea|time|tt|u|var|video|wbr"
)
_TAG = (
    r"(?:<(?:script|style)\b[^<>]*+>[^<]*+(?:<(?!/?(?:script|style)\b)[^<]*+)*+</(?:script|style)\s*+>"
    r"|<!--(?:[^-<]++|-(?!->)|<(?!!--))*+-->|<[!?][^<>]*+>"
    rf"|</?(?:{_BLOCKS}|{_INLINE}|t[dh]|\w{{1,8}}:\w{{1,20}})(?=[\s/>])(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+'|[\"'])*+>)"
)
TAGS = re.compile(rf"(?:(?<!\s)\s{{1,16}}+)?+{_TAG}(?:\s*+{_TAG})*+\s*+", re.IGNORECASE)
BLOCK = re.compile(rf"</?(?:{_BLOCKS})\b", re.IGNORECASE)
CELL = re.compile(r"<t[dh]\b", re.IGNORECASE)
ITEM = re.compile(r"<li\b", re.IGNORECASE)
BLANK_LINE = re.compile(r"\n[ \t\r]*+\n")
ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")


def _break_or_nothing(found: Match) -> str:
    tags = found.group()
    if BLOCK.search(tags):
        return ("\n\n" if BLANK_LINE.search(tags) else "\n") + ("• " if ITEM.search(tags) else "")
    if CELL.search(tags):
        return " | "
    around = re.sub(r"<[^>]*>", "", tags)
    return "\n" * min(2, around.count("\n")) or (" " if around.strip(" \t\r\xa0") != around else "")


# Characters: one form for each quote, dash, space and letter; none that is not seen.

BULLETS = "•▪▫■□▶►▸➤➢➔➜●○◦‣⁃∙◆◇❖✓✔✅☑✗👉🔹🔸🔷🔶"
SINGLE_QUOTES, DOUBLE_QUOTES = "’‘‚‛′ʼʹ´`ˈ‹›", "“”„‟«»″〝〞"
DASHES = "‐‑‒−"
LINE_ENDS, FILLERS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029", "\u115f\u1160\u3164\uffa0"
KEPT_SYMBOLS = "°"
CHARACTER = re.compile(
    r"\r\n?|[0-9#*]\ufe0f?\u20e3|\u00ad[ \t]*+\r?\n[ \t]*+|[^\W\d_][\u0300-\u036f]{1,4}|[^\n\t -_a-~]"
)
"""What may have to change: keycaps, soft hyphens at the end of a line, letters with marks, all that is not ASCII."""


def _one_form(found: Match) -> str:
    said = found.group()
    if len(said) == 1:
        return _character(said)
    if said[0] == "\r":
        return "\n"
    return unicodedata.normalize("NFC", said) if said[0].isalpha() else ""


@lru_cache(maxsize=4096)
def _character(character: str) -> str:
    for group, new in ((BULLETS, "•"), (SINGLE_QUOTES, "'"), (DOUBLE_QUOTES, '"'), (DASHES, "-"), (LINE_ENDS, "\n")):
        if character in group:
            return new
    category = unicodedata.category(character)
    if character == "\r":
        return "\n"
    if category in ("Cc", "Cf", "Co") or character in FILLERS or "\u0300" <= character <= "\u036f":
        return ""
    if category == "Sk" or unicodedata.name(character, "").startswith(("VARIATION SELECTOR", "COMBINING ENCLOSING")):
        return ""
    if category in ("Zs", "Cs") or (category == "So" and character not in KEPT_SYMBOLS):
        return " "
    plain = unicodedata.normalize("NFKC", character)
    form = unicodedata.decomposition(character).partition(" ")[0]
    same = form in ("<wide>", "<narrow>", "<font>") or (form == "<compat>" and plain.isalpha())
    return plain if same else character


# Markdown, and lines: headings, emphasis, links, rules, tables, words cut at the end of a line, numbers and bullets.

MARKDOWN = re.compile(
    r"!?\[(?=[^\[\]\n]{0,200}+\]\([^()\s]{0,500}+\))|\]\([^()\s]{0,500}+\)"
    r"|\\(?P<escaped>[\\`*_{}\[\]()#+.!|&~<>-])"
    r"|\*{2,3}|_{2,3}|~~"
    r"|(?<![\w*])\*(?=[^\s*][^*\n]{0,200}+(?<=\S)\*(?![\w*]))|(?<=\S)(?<!\*)\*(?![\w*])"
    r"|(?<![\w_])_(?=[^\s_])|(?<=[^\s_])_(?![\w_])"
)
SPACES = re.compile(r"[ \t\n]{2,}+|\t|\A[ \t\n]++|[ \t\n]++\Z")
RULE = re.compile(r"^[-=*_~#+–—|: ]{3,}+$\n?", re.MULTILINE)
ROW_EDGE = re.compile(r"^\| ?(?=\S)|(?<=\S) ?\|$", re.MULTILINE)
CUT_WORD = re.compile(rf"(?<=[^\W\d_]{{2}})-\n(?!(?:{AND}|{OR})\b)(?=[^\W_])")
MARKER = re.compile(
    r"^(?:(?:>+|[-–—*+]|•+|\.{2,3}|#{1,6}(?=\s)) ?(?<=[ •])|[-–—>](?=[^\W\d_])|·+ ?"
    r"|(?:\(?\d{1,2}(?:\.\d{1,2}){0,3}+[.):/]{1,2}|\(?[a-z]\)|[A-Z]\)|[ivxIVX]{2,4}[.)]|[①-⑳❶-❿]) ?(?<=[ ①-⑳❶-❿])"
    r"|\[[ xX]?\] )+",
    re.MULTILINE,
)
BULLET = re.compile(r"[-–—*+•·]|\.\.")


def _fewer(found: Match) -> str:
    spaces = found.group()
    if found.start() == 0 or found.end() == len(found.string):
        return ""
    return "\n" * min(2, spaces.count("\n")) or " "


def _joined_word(found: Match) -> str:
    """Return nothing for a word cut by the line's end, the hyphen where a capital or a number goes on."""
    return "" if found.string[found.end()].islower() else "-"


Step = tuple[re.Pattern[str], Callable[[Match], str]]
MARKUP: tuple[Step, ...] = ((TAGS, _break_or_nothing), (ENTITY, lambda found: html.unescape(found.group())))
MOST_ESCAPED = 3
"""Markup that was escaped as a whole is read once its entities are characters."""
FORMS: tuple[Step, ...] = (
    (CHARACTER, _one_form),
    (MARKDOWN, lambda found: found["escaped"] or ""),
    (SPACES, _fewer),
    (RULE, lambda _: ""),
    (ROW_EDGE, lambda _: ""),
    (CUT_WORD, _joined_word),
)
