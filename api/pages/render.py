"""Rendering pages: templates, one style sheet, and headers that allow nothing else."""

import base64
import hashlib
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import Response

TEMPLATES = Path(__file__).parent / "templates"
STYLE = (TEMPLATES / "style.css").read_text()
_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()

HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action 'self'; base-uri 'none';"
        " frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}

_environment = Environment(
    loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
_environment.globals["style"] = Markup(STYLE)  # noqa: S704 - our own style sheet


LEADING_AWAY = HEADERS | {
    "Content-Security-Policy": HEADERS["Content-Security-Policy"].replace(" form-action 'self';", ""),
}
"""Headers of a page whose form redirects the browser to another site: browsers apply `form-action` to every redirect
on the way, and the later ones are not known here."""


def page(template: str, *, status: int = 200, leads_away: bool = False, **values: object) -> Response:
    """Render a page. Values are escaped."""
    html = _environment.get_template(template).render(**values)
    headers = LEADING_AWAY if leads_away else HEADERS
    return Response(html, status_code=status, headers=headers, media_type="text/html")
