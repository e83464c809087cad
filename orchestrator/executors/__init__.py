"""Runs the scheduler's jobs: in this process, or on Ray, whose settings come before its import."""

import podium.orchestrator.executors.ray_environment  # noqa: F401 - sets what Ray reads once
