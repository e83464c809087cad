"""What a shell offers in place of a word that is not complete yet. Loads nothing heavy."""

from pathlib import Path

from podium.arguments.shipped_files import shipped_studies
from trainables.registry import names


def complete_study(incomplete: str) -> list[str]:
    """Shipped studies, and files and folders here; none within folders, which shells know."""
    shipped = [name for name in shipped_studies() if name.startswith(incomplete)]
    if not shipped:
        return []
    here = [
        f"{path}/" if path.is_dir() else str(path)
        for path in Path().glob("[!.]*")
        if path.name.startswith(incomplete) and (path.is_dir() or path.suffix in (".yaml", ".yml"))
    ]
    return [*sorted(here), *shipped]


def complete_loss(incomplete: str) -> list[str]:
    """Podium's own losses."""
    return [name for name in names("losses") if name.startswith(incomplete)]
