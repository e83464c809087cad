"""``python -m podium`` is the same as ``podium``."""

from podium.cli import main

__all__: list[str] = []

main()
