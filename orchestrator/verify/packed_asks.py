"""The asks of a results folder as its checks look at them: compressed, since there are many."""

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from orchestrator.results.records.asks import Ask


class PackedAsks(Mapping[str, list[Ask]]):
    """Search id -> its asks; those of a search are unpacked when they are looked at, not kept."""

    def __init__(self) -> None:
        self._packed: dict[str, bytes] = {}
        self._lengths: dict[str, int] = {}

    def put(self, search: str, asks: Sequence[Ask]) -> None:
        """Keep the asks of a search, in place of those before."""
        values = json.dumps([asdict(ask) for ask in asks])
        self._packed[search] = zlib.compress(values.encode(), level=1)
        self._lengths[search] = len(asks)

    def length(self, search: str) -> int:
        """Number of asks of a search; 0 if it has none."""
        return self._lengths.get(search, 0)

    def __getitem__(self, search: str) -> list[Ask]:
        """The asks of a search."""
        return [Ask(**values) for values in json.loads(zlib.decompress(self._packed[search]))]

    def __iter__(self) -> Iterator[str]:
        """Ids of searches, in the order in which they were put."""
        return iter(self._packed)

    def __len__(self) -> int:
        """Number of searches with asks."""
        return len(self._packed)
