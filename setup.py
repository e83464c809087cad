"""The description of the package: README.md as a package index can show it."""

import re
from pathlib import Path

from setuptools import setup

_LINK = re.compile(r"!?\[([^\]]*)\]\((?!https?:)[^)\s]*\)")  # to files of the repository


def _without_links(text: str) -> str:
    """The text with the words of such links and images in their place."""
    return _LINK.sub(r"\1", text)


setup(
    long_description=_without_links(Path("README.md").read_text(encoding="utf-8")),
    long_description_content_type="text/markdown",
)
