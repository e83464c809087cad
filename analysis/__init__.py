"""Statistics, tournament, figures and report. Reads orchestrator.results only; no torch, no ray."""
