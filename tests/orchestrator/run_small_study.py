"""Runs a very small study in a storage until it is killed: STORAGE."""

import sys
from dataclasses import replace

from podium.orchestrator.results.storage.locations import parse_place
from tests.orchestrator.small_study import run_here, with_search

TINY = replace(with_search(trials=4), embedding_dims=(8,))

if __name__ == "__main__":
    run_here(TINY, parse_place(sys.argv[1]))
