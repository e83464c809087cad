import orchestrator.executors.ray_environment  # noqa: F401 - before any test imports Ray
