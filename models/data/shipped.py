"""Unpacks the shipped reference file once per machine and opens it for reading."""

import hashlib
import lzma
import os
import sqlite3
import tempfile
from pathlib import Path

SHIPPED = Path(__file__).parent / "reference.sqlite.xz"


def unpacked(shipped: Path = SHIPPED, *, cache: Path | None = None) -> Path:
    """The path of the unpacked file, named by the content of the shipped one.

    Several processes may do this at once: each writes a file of its own and moves it into place whole.
    """
    packed = shipped.read_bytes()
    folder = cache or cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"reference-{hashlib.sha256(packed).hexdigest()[:32]}.sqlite"
    if target.exists():
        return target
    handle, name = tempfile.mkstemp(dir=folder, prefix="unpacking-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(lzma.decompress(packed))
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    finally:
        Path(name).unlink(missing_ok=True)
    return target


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME` or `~/.cache`; a private folder of this user where neither can be written."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "sourcing-and-outreach"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.gettempdir()) / f"sourcing-and-outreach-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid() or not os.access(folder, os.W_OK):
        raise PermissionError(f"the cache folder {folder} is not ours")
    return folder


def open_reference(path: Path) -> sqlite3.Connection:
    """A read-only connection that any thread may use."""
    return sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
