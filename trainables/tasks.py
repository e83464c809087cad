"""What a data set's labels say, and so what its images are retrieved by. No torch.

classes      each image has a class: retrieved by class, scored by Recall@K
continuous   two images have a label distance: retrieved by it, scored by nDCG@K
"""

from collections.abc import Mapping
from typing import Literal

__all__ = ["METRICS", "OBJECTIVES", "Task"]

Task = Literal["classes", "continuous"]

# What validation and test report for each K; the first is the objective of searches, and larger
# values of it are better.
METRICS: Mapping[Task, tuple[str, ...]] = {
    "classes": ("recall",),
    "continuous": ("ndcg", "mean_label_distance"),
}
OBJECTIVES: Mapping[Task, str] = {task: metrics[0] for task, metrics in METRICS.items()}
