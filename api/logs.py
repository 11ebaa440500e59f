"""Defects as the log tells them: without the data that met them."""

import traceback
from pathlib import Path

ROOT = Path(__file__).parent.parent


def described(error: BaseException) -> list[str]:
    """Where an exception came from, and its causes: types and places alone, since messages can hold personal data."""
    lines: list[str] = []
    current: BaseException | None = error
    while current is not None:
        lines.append(type(current).__qualname__)
        lines += [f"{_place(frame.filename)}:{frame.lineno} {frame.name}" for frame in _frames(current)]
        current = current.__cause__ or current.__context__
    return lines


def _frames(error: BaseException) -> list[traceback.FrameSummary]:
    """Our own frames, and the one that raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return [frame for frame in frames[:-1] if _is_ours(frame.filename)] + frames[-1:]


def _is_ours(filename: str) -> bool:
    path = Path(filename)
    return path.is_relative_to(ROOT) and "site-packages" not in path.parts


def _place(filename: str) -> str:
    return str(Path(filename).relative_to(ROOT)) if _is_ours(filename) else Path(filename).name
