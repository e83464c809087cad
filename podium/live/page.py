"""The live page as one HTML file, which loads nothing but the record of the study."""

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from analysis.page.scripts import PLOT_LIBRARY


@dataclass(frozen=True, slots=True, kw_only=True)
class LivePage:
    """A page and the policy that it is sent with.

    Attributes:
        html: the page.
        policy: its Content-Security-Policy: its own scripts run, and it asks its own server alone.
    """

    html: str
    policy: str


def live_page(name: str, *, may_control: bool) -> LivePage:
    """The page that follows a study.

    Args:
        name: name of the study, until its record says it.
        may_control: whether the page offers to change how the study runs.
    """
    scripts = [PLOT_LIBRARY, _text("podium.live", "live.js")]
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    html = (
        _environment()
        .get_template("live.html.j2")
        .render(
            name=name,
            may_control=may_control,
            styles=[
                Markup(_text("analysis.page", "page.css")),
                Markup(_text("podium.live", "live.css")),
            ],
            scripts=[Markup(script) for script in scripts],
        )
    )
    return LivePage(
        html=html,
        policy=(
            "default-src 'none'; connect-src 'self'; img-src data:; style-src 'unsafe-inline';"
            f" script-src {hashes}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
    )


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("podium.live", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _text(package: str, name: str) -> str:
    return (resources.files(package) / "templates" / name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
