"""The rooms of the house: what each may import, how many files it may hold. Arrows point down."""

MAX_FILES = 20

# fmt: off
# Rooms of plug-ins: as many files as there are losses, backbones, commands.
CATALOGUES = {
    "analysis/figures", "analysis/report", "orchestrator/search_samplers", "podium/commands",
    "trainables/backbones", "trainables/batch_samplers",
    "trainables/dataset_readers", "trainables/datasets", "trainables/losses", "trainables/metrics",
    "trainables/miners", "trainables/recipes",
}

# Small modules with one importer, beside it, which are ideas that people look for by name.
LOOKED_FOR_BY_NAME = {
    "search_spaces.joint",
    "search_spaces.psomas2020",
    "search_spaces.reality_check",
    "trainables.loss_composition.try_loss",
    "trainables.metrics.stacked_ranks",
    "trainables.population.captured_step",
    "trainables.trial.checkpoint",
    "analysis.page.scripts",
    "analysis.hypothesis_tests.sign_flip_test",
    "analysis.protocols.costs",
    "analysis.protocols.default_tuned_refit",
    "analysis.study_results.nearest_images",
    "analysis.typed_tables.omissions",
    "orchestrator.executors.ray_messages",
    "orchestrator.executors.ray_node_probe",
    "orchestrator.run.retry_failed",
    "orchestrator.run.run_log",
    "orchestrator.scheduling.systematic_failures",
    "orchestrator.scheduling.timeouts",
    "orchestrator.scheduling.worker_slots",
    "podium.api.images_at_hand",
    "podium.api.selection",
    "podium.api.status",
    "podium.cli",
    "podium.plan.plan_details",
    "trainables.loss_composition.cross_batch_memory",
    "trainables.loss_composition.matryoshka",
    "trainables.loss_composition.pretraining",
    "trainables.loss_composition.weighted_sum",
    "trainables.network.external_backbone",
    "trainables.network.timm_backbone",
    "trainables.training_loop.frozen_layers",
    "trainables.training_loop.learning_rates",
    "trainables.training_loop.micro_batches",
    "trainables.training_loop.optimisers",
}

# Room -> rooms that it may import, level by level: a room imports rooms of lower levels only.
ROOMS: dict[str, set[str]] = {
    # 15
    "podium/commands": {
        "analysis", "analysis/report", "analysis/scores",
        "analysis/typed_tables",
        "orchestrator/results/records", "orchestrator/results/storage",
        "orchestrator/results/trial_files", "orchestrator/run",
        "orchestrator/study", "orchestrator/verify", "podium",
        "podium/api", "podium/arguments", "podium/errors", "podium/kept_files", "podium/live",
        "podium/stop_signals", "podium/terminal", "search_spaces", "trainables",
        "trainables/dataset_interface", "trainables/dataset_readers", "trainables/file_caches",
        "trainables/network",
        "trainables/recipes", "trainables/saved_models", "trainables/settings", "trainables/trial",
    },
    # 14
    "podium": {
        "analysis", "orchestrator", "orchestrator/results/records",
        "orchestrator/results/storage", "orchestrator/results/trial_files",
        "orchestrator/scheduling", "orchestrator/search_samplers", "orchestrator/study",
        "podium/api", "podium/errors", "podium/stop_signals", "podium/terminal", "search_spaces",
        "trainables/dataset_interface", "trainables/dataset_readers",
    },
    # 13
    "podium/api": {
        "analysis", "analysis/hyperparameters", "analysis/page", "analysis/protocols",
        "analysis/report", "analysis/scores", "analysis/study_results", "analysis/tournament",
        "analysis/typed_tables", "orchestrator/executors", "orchestrator/planning",
        "orchestrator/results/records", "orchestrator/results/storage",
        "orchestrator/results/trial_files", "orchestrator/run", "orchestrator/scheduling",
        "orchestrator/study", "orchestrator/study_validation", "podium/arguments",
        "podium/comparison", "podium/errors", "podium/live", "podium/plan", "podium/stop_signals",
        "podium/terminal", "trainables", "trainables/dataset_interface",
        "trainables/loss_composition", "trainables/saved_models", "trainables/settings",
    },
    # 12
    "podium/comparison": {
        "analysis", "analysis/hypothesis_tests", "analysis/page",
        "analysis/report", "analysis/study_results", "analysis/tournament",
        "orchestrator/results/records", "orchestrator/results/storage", "orchestrator/study",
        "podium/errors", "podium/terminal", "trainables",
        "trainables/dataset_interface", "trainables/settings",
    },
    "podium/plan": {
        "analysis", "analysis/estimates", "analysis/hypothesis_tests",
        "analysis/tournament", "orchestrator/planning", "orchestrator/results/records",
        "orchestrator/results/storage", "orchestrator/results/trial_files", "orchestrator/run",
        "orchestrator/study", "podium/errors", "podium/terminal", "trainables",
        "trainables/settings",
    },
    "podium/live": {
        "orchestrator", "orchestrator/results/locks",
        "orchestrator/results/records", "orchestrator/results/storage",
        "orchestrator/results/trial_files", "orchestrator/run",
        "orchestrator/scheduling", "orchestrator/study", "orchestrator/trials",
        "orchestrator/worker", "podium/errors", "podium/terminal",
    },
    # 11
    "podium/terminal": {
        "analysis", "analysis/page", "analysis/tournament", "orchestrator/results/records",
        "orchestrator/results/storage", "orchestrator/scheduling", "trainables",
        "trainables/settings", "trainables/trial",
    },
    # 10
    "analysis/report": {
        "analysis", "analysis/estimates", "analysis/figures", "analysis/hyperparameters",
        "analysis/hypothesis_tests", "analysis/page", "analysis/protocols", "analysis/scores",
        "analysis/study_results", "analysis/tournament", "orchestrator/results/records",
        "orchestrator/results/storage", "podium/kept_files",
    },
    # 9
    "orchestrator/verify": {
        "orchestrator", "orchestrator/results/locks", "orchestrator/results/records",
        "orchestrator/results/storage", "orchestrator/results/trial_files", "orchestrator/run",
        "orchestrator/study", "orchestrator/trials", "podium/errors", "podium/kept_files",
        "trainables", "trainables/dataset_interface",
    },
    "orchestrator/executors": {
        "orchestrator", "orchestrator/results/records", "orchestrator/results/storage",
        "orchestrator/scheduling", "orchestrator/study", "orchestrator/trials",
        "orchestrator/worker", "podium/errors",
    },
    # 8
    "analysis/study_results": {
        "analysis", "analysis/estimates", "analysis/protocols", "analysis/scores",
        "analysis/tournament", "orchestrator/results/records", "orchestrator/results/storage",
        "podium/errors", "podium/kept_files",
    },
    "orchestrator/run": {
        "orchestrator", "orchestrator/results/locks", "orchestrator/results/records",
        "orchestrator/results/storage", "orchestrator/results/trial_files",
        "orchestrator/scheduling", "orchestrator/search_samplers", "orchestrator/study",
        "orchestrator/study_parser", "orchestrator/study_validation", "orchestrator/trials",
        "podium/errors", "search_spaces", "trainables", "trainables/dataset_interface",
        "trainables/file_caches", "trainables/network",
    },
    "podium/arguments": {
        "analysis/typed_tables", "orchestrator/results/records", "orchestrator/results/storage",
        "orchestrator/results/trial_files", "orchestrator/study_validation", "podium/errors",
        "trainables", "trainables/settings",
    },
    "orchestrator/worker": {
        "orchestrator", "orchestrator/results/records", "orchestrator/results/storage",
        "orchestrator/study", "orchestrator/trials", "podium/errors", "trainables",
        "trainables/population", "trainables/settings", "trainables/trial",
    },
    # 7
    "analysis/hyperparameters": {
        "analysis", "analysis/estimates", "orchestrator/results/records",
        "orchestrator/results/trial_files",
    },
    "orchestrator/planning": {
        "orchestrator/results/records", "orchestrator/results/storage",
        "orchestrator/results/trial_files", "orchestrator/study",
        "trainables", "trainables/dataset_interface", "trainables/file_caches",
        "trainables/network", "trainables/settings",
    },
    "orchestrator/scheduling": {
        "orchestrator", "orchestrator/results/records", "orchestrator/results/storage",
        "orchestrator/results/trial_files", "orchestrator/search_samplers", "orchestrator/study",
        "orchestrator/trials", "podium/errors", "trainables", "trainables/settings",
    },
    "orchestrator/study_validation": {
        "orchestrator/results/records", "orchestrator/search_samplers",
        "orchestrator/study", "orchestrator/study_parser", "podium/errors",
        "trainables", "trainables/batches", "trainables/dataset_interface", "trainables/network",
        "trainables/settings",
    },
    "trainables/population": {
        "trainables", "trainables/loss_composition", "trainables/metrics", "trainables/settings",
        "trainables/training_loop", "trainables/trial",
    },
    # 6
    "analysis/protocols": {
        "analysis", "analysis/estimates", "analysis/figures", "analysis/hypothesis_tests",
        "analysis/page", "analysis/scores", "analysis/tournament", "orchestrator/results/records",
        "podium/errors",
    },
    "orchestrator/study_parser": {
        "orchestrator", "orchestrator/results/records", "orchestrator/results/storage",
        "orchestrator/search_samplers", "orchestrator/study", "podium/errors", "search_spaces",
        "trainables", "trainables/dataset_interface", "trainables/network", "trainables/recipes",
        "trainables/settings",
    },
    "orchestrator/trials": {
        "orchestrator", "orchestrator/results/records", "orchestrator/results/trial_files",
        "orchestrator/search_samplers", "orchestrator/study", "podium/errors", "trainables",
        "trainables/dataset_interface", "trainables/metrics", "trainables/network",
        "trainables/settings",
    },
    "trainables/trial": {
        "podium/kept_files", "trainables", "trainables/batches", "trainables/dataset_interface",
        "trainables/file_caches", "trainables/loss_composition", "trainables/network",
        "trainables/saved_models", "trainables/settings", "trainables/training_loop",
    },
    # 5
    "analysis/page": {
        "analysis", "analysis/figures", "analysis/tournament", "orchestrator/results/storage",
    },
    "analysis/scores": {
        "analysis", "analysis/estimates", "analysis/hypothesis_tests", "analysis/typed_tables",
        "orchestrator/results/records", "orchestrator/results/storage",
        "orchestrator/results/trial_files", "podium/errors",
    },
    "orchestrator/study": {
        "orchestrator", "orchestrator/results/records", "orchestrator/results/storage",
        "orchestrator/search_samplers", "podium/errors", "search_spaces", "trainables",
        "trainables/dataset_interface", "trainables/loss_composition", "trainables/network",
        "trainables/recipes", "trainables/settings",
    },
    "trainables/losses": {
        "trainables", "trainables/loss_composition", "trainables/miners", "trainables/settings",
    },
    "trainables/saved_models": {
        "podium/kept_files", "trainables", "trainables/batches", "trainables/dataset_interface",
        "trainables/file_caches", "trainables/metrics", "trainables/network",
        "trainables/settings",
    },
    "trainables/training_loop": {
        "trainables", "trainables/batches", "trainables/dataset_interface",
        "trainables/loss_composition", "trainables/metrics", "trainables/network",
        "trainables/settings",
    },
    # 4
    "analysis/tournament": {
        "analysis", "analysis/estimates", "analysis/hypothesis_tests", "analysis/typed_tables",
        "orchestrator/results/records", "podium/errors",
    },
    "orchestrator/results/trial_files": {
        "orchestrator/results/records", "orchestrator/results/storage", "podium/errors",
        "podium/kept_files",
    },
    "orchestrator/search_samplers": {"orchestrator", "search_spaces"},
    "trainables/backbones": {"trainables", "trainables/network", "trainables/settings"},
    "trainables/batch_samplers": {"trainables", "trainables/dataset_interface"},
    "trainables/batches": {
        "trainables", "trainables/dataset_interface", "trainables/file_caches",
        "trainables/settings",
    },
    "trainables/datasets": {
        "trainables", "trainables/dataset_interface", "trainables/dataset_readers",
        "trainables/file_caches", "trainables/settings",
    },
    "trainables/metrics": {"trainables", "trainables/dataset_interface"},
    "trainables/miners": {"trainables/loss_composition"},
    # 3
    "analysis/hypothesis_tests": {"analysis/estimates"},
    "orchestrator": {"trainables/settings"},
    "orchestrator/results/locks": {
        "orchestrator/results/records", "orchestrator/results/storage", "podium/errors",
    },
    "trainables/dataset_interface": {
        "trainables", "trainables/file_caches", "trainables/settings",
    },
    "trainables/dataset_readers": {"trainables", "trainables/file_caches"},
    "trainables/loss_composition": {"trainables", "trainables/settings"},
    "trainables/network": {"trainables", "trainables/settings"},
    "trainables/recipes": {"trainables", "trainables/settings"},
    # 2
    "orchestrator/results/records": {"orchestrator/results/storage", "podium/errors"},
    "trainables/file_caches": {"trainables"},
    "trainables/settings": {"trainables"},
    # 1
    "analysis/typed_tables": {"analysis", "podium/errors"},
    "orchestrator/results/storage": {"podium/errors"},
    "podium/kept_files": {"podium/errors"},
    "podium/stop_signals": {"podium/errors"},
    "trainables": {"podium/errors"},
    # 0
    "analysis": set(),
    "analysis/estimates": set(),
    "analysis/figures": set(),
    "orchestrator/results": set(),
    "podium/errors": set(),
    "search_spaces": set(),
}
