"""Statistics, tournament, figures, report. Reads orchestrator.results only; no torch, no ray."""
