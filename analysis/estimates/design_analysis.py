"""What a design can and cannot show, computed before anything is trained.

Numpy only, so that ``podium plan`` stays quick. Integrals are sums over fixed grids: no seed, no
error of simulation. Scores, differences, spreads and noises are in one unit of the caller's choice
(points, say), but for recalls, which are shares.

Shapes: M configs; G, T, Z and A points of grids of scores, true scores, noises and angles.
"""

import math
from functools import lru_cache

import numpy as np

from podium.analysis.estimates.normal_distribution import REACH, Floats, cdf, grid, pdf

# Two-sided 5 %: scores that differ by so many standard errors are significantly different.
_TWO_SIDED = 1.959964
_ANGLES = 48
_NEGLIGIBLE = 1e-12


def recall_error(
    recall: float, *, num_queries: int, num_classes: int, class_correlation: float
) -> float:
    """Standard error of a Recall@K over classes of one size, drawn from many (Kish 1965).

    It is that of independent queries times the root of the design effect, which is
    1 + (queries of a class - 1) x intra-class correlation.

    Args:
        recall: true Recall@K, in [0, 1].
        num_queries: number of queries of all classes, from 1.
        num_classes: number of classes, from 1 to ``num_queries``.
        class_correlation: correlation of the success of two queries of one class, in [0, 1].
    """
    effect = 1 + (num_queries / num_classes - 1) * class_correlation
    return math.sqrt(recall * (1 - recall) / num_queries) * math.sqrt(effect)


def selection_noise(standard_error: float, *, shared: float, seed_std: float) -> float:
    """Standard deviation of a score, as far as it can change which config is picked.

    What all configs have in common changes no choice: they are validated on the same classes.

    Args:
        standard_error: standard error of one score over classes, from 0.
        shared: correlation of the errors of two configs on the same classes, in [0, 1].
        seed_std: standard deviation of one config over seeds, in the unit of ``standard_error``,
            from 0.
    """
    return math.hypot(standard_error * math.sqrt(1 - shared), seed_std)


def least_significant_difference(noise: float) -> float:
    """The least significant difference of two scores: 5 %, two-sided, for one comparison."""
    return _TWO_SIDED * math.sqrt(2) * noise


def chance_of_better(difference: float, noise: float) -> float:
    """Probability that the better of two configs scores higher, given their true difference."""
    if noise == 0:
        return 0.5 if difference == 0 else float(difference > 0)
    return 0.5 * math.erfc(-difference / (2 * noise))


def classes_needed(
    difference: float,
    *,
    recall: float,
    queries_per_class: float,
    class_correlation: float,
    shared: float,
    seed_std: float,
) -> int | None:
    """The fewest validation classes with which a difference of two configs is significant.

    Args:
        difference: true difference of the two configs, above 0, as a share.
        recall: true Recall@K, as in `recall_error`.
        queries_per_class: number of queries of each class, from 1.
        class_correlation: correlation of two queries of one class, as in `recall_error`.
        shared: correlation of the errors of two configs, as in `selection_noise`.
        seed_std: standard deviation over seeds, as in `selection_noise`, as a share.

    Returns:
        None if the scatter over seeds alone hides the difference, however many classes there are.
    """
    allowed = (difference / least_significant_difference(1.0)) ** 2 - seed_std**2
    if allowed <= 0:
        return None
    effect = 1 + (queries_per_class - 1) * class_correlation
    of_one_class = recall * (1 - recall) / queries_per_class * effect * (1 - shared)
    return max(1, math.ceil(of_one_class / allowed))


@lru_cache(maxsize=256)
def random_search_odds(
    num_configs: int, *, spread: float, noise: float
) -> tuple[float, float, float]:
    """Odds of picking among configs whose true scores are independent normal draws.

    A config's score and true score are correlated by r = spread / total, where total^2 is
    spread^2 + noise^2. With e the mean of the largest of M standard normals, the highest score is
    e total above the mean of all configs, its true score r e spread, the best true score e spread.
    Chance of the best: M times the integral of F^(M-1) dF over the joint distribution F.

    Args:
        num_configs: number of configs M, from 1.
        spread: standard deviation of true scores, from 0; at 0 all are best.
        noise: standard deviation of a score around its true score, from 0.

    Returns:
        Of the config with the highest score: the probability that it is truly the best; its
        regret, the true score of the best minus its own; its optimism, the winner's curse: its
        score minus its true score.
    """
    largest = _mean_of_largest(num_configs)
    if num_configs == 1 or noise == 0 or spread == 0:
        return 1.0, 0.0, largest * noise
    total = math.hypot(spread, noise)
    r = spread / total
    regret, optimism = largest * spread * (1 - r), largest * noise**2 / total
    return _chance_of_best(num_configs, r), regret, optimism


def _chance_of_best(num_configs: int, r: float) -> float:
    """M times the integral of F(t, y)^(M-1) over standard normals t and y of correlation r."""
    t_T, step_t = grid(-REACH, REACH, 0.1)
    t_T = t_T[cdf(t_T) ** (num_configs - 1) > _NEGLIGIBLE]
    z_Z, step_z = grid(-5.0, 5.0, 0.25)
    y_TZ = r * t_T[:, None] + math.sqrt(1 - r * r) * z_Z
    both_TZ = _joint_below(t_T, y_TZ, r) ** (num_configs - 1)
    weighed = pdf(t_T) @ both_TZ @ pdf(z_Z)
    return num_configs * float(weighed) * step_t * step_z


def _joint_below(t_T: Floats, y_TZ: Floats, r: float) -> Floats:
    """P(T < t, Y < y) of two standard normals of correlation r in (0, 1).

    Drezner and Wesolowsky 1990: the independent case plus an integral over the angles up to
    arcsin r. These are taken denser towards the end, where for large r the integrand changes fast.
    """
    x_A = (np.arange(_ANGLES) + 0.5) / _ANGLES
    angle_A = math.asin(r) * (1 - (1 - x_A) ** 3)
    width_A = math.asin(r) * 3 * (1 - x_A) ** 2 / _ANGLES
    correction_TZ = np.zeros_like(y_TZ)
    squares_TZ = t_T[:, None] ** 2 + y_TZ**2
    products_TZ = t_T[:, None] * y_TZ
    for angle, width in zip(angle_A, width_A, strict=True):
        exponent_TZ = products_TZ * (2 * math.sin(angle)) - squares_TZ
        correction_TZ += width * np.exp(exponent_TZ / (2 * math.cos(angle) ** 2))
    independent_TZ = cdf(t_T)[:, None] * cdf(y_TZ)
    return np.clip(independent_TZ + correction_TZ / (2 * math.pi), 0.0, 1.0)


def _mean_of_largest(num: int) -> float:
    """Mean of the largest of so many standard normals."""
    y_G, step = grid(-REACH, REACH, 0.02)
    return float(num * step * (y_G * pdf(y_G)) @ cdf(y_G) ** (num - 1))
