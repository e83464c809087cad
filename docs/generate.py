"""Writes the pages that follow from the code.

python -m docs.generate
"""

from pathlib import Path

import torch

from docs.make.api_page import api_page
from docs.make.commands_page import commands_page
from docs.make.facts_page import facts_page
from docs.make.losses_page import losses_pages
from docs.make.rooms_page import with_rooms
from docs.make.schema_page import results_schema_page

_FOLDER = Path(__file__).parent


def made_pages() -> dict[str, str]:
    """File in this folder -> its text."""
    return {
        "reference/results-schema.md": results_schema_page(),
        "reference/commands.md": commands_page(),
        "reference/api.md": api_page(),
        "reference/facts.md": facts_page(),
        "explanation/architecture.md": with_rooms(_FOLDER / "explanation" / "architecture.md"),
        **{f"reference/losses/{name}": text for name, text in losses_pages().items()},
    }


if __name__ == "__main__":
    torch.set_num_threads(1)  # tensors are so small that threads would only wait for each other
    for page, text in made_pages().items():
        (_FOLDER / page).write_text(text, encoding="utf-8")
        print(f"docs/{page}")
