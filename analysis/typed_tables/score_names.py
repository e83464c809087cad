"""What the names of columns say: of which metric, K and data set their scores are."""

import re
from dataclasses import dataclass

RECALL = "recall"

_AT = re.compile(
    r"(?<![A-Za-z0-9])(?P<metric>[A-Za-z][A-Za-z-]*?)\s*(?:@|_at_|[ -]at[ -])\s*"
    r"(?P<k>\d{1,10}|[kKR])(?![A-Za-z0-9.])"
)
_RECALL_1 = re.compile(
    r"(?<![A-Za-z0-9])(?:recall|rec)[ _-]?(?P<k>\d{1,10})(?![A-Za-z0-9.])", re.I
)
_R1 = re.compile(r"(?<![A-Za-z0-9])r[ _]?(?P<k>\d{1,10})(?![A-Za-z0-9.])", re.I)
_RESNETS = {18, 34, 50, 101, 152}  # R50 is no recall
_RECALLS = {"r", "rec", "recall"}
_PLAIN = {
    "nmi": "NMI", "ami": "AMI", "f1": "F1", "map": "mAP", "map_r": "MAP@R", "rp": "R-Precision",
    "r_precision": "R-Precision", "ndcg": "nDCG", "mrr": "MRR", "accuracy": "accuracy",
    "acc": "accuracy", "recall": RECALL, "ari": "ARI",
}  # fmt: skip
_METRIC = re.compile(
    rf"(?<![A-Za-z0-9])({'|'.join(sorted(_PLAIN, key=len, reverse=True)).replace('_', '[ _-]')})"
    r"(?![A-Za-z0-9])",
    re.I,
)
_PERCENT = re.compile(r"\(?%\)?|\bin percent\b|[↑↓]")
_EDGES = " _-/:|,;()[].·"
_SPREADS = {"std", "sd", "stdev", "std_dev", "se", "ci", "±"}
SPLITS = {"test", "val", "valid", "validation", "train", "training", "best_val", "dev"}
_NO_SCORES = {
    "year", "dim", "dims", "dimension", "dimensions", "d", "size", "resolution", "params",
    "parameters", "epoch", "epochs", "batch", "seed", "fold", "repeat", "run", "venue", "lr",
    "time", "id", "index", "table", "row", "no", "flops", "gflops", "queries", "images", "classes",
    "average", "avg", "mean", "rank", "k", "total", "n",
}  # fmt: skip
_ENDS = {"dim", "dims", "dimension", "size", "year", "epochs", "params", "seed", "rank", *_SPREADS}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreName:
    """What a column of scores is of.

    Attributes:
        block: rest of the name, which is a data set in most tables; empty if there is none.
        metric: ``recall``, or another metric as it is usually written.
        k: K of a Recall@K; None of other metrics.
    """

    block: str
    metric: str
    k: int | None


def normal(name: str) -> str:
    """A name in small letters, anything but letters and digits as one ``_``."""
    return re.sub(r"[^a-z0-9±]+", "_", name.casefold()).strip("_")


def score_name(name: str) -> ScoreName | None:
    """What a column's name says of its scores; None if it names no metric.

    ``R@1``, ``r1``, ``recall@1``, ``recall_at_1``, ``CUB R@1 (%)`` and ``test_recall_at_1`` are
    Recall@1; ``R50`` is a ResNet. ``P@1`` and ``MAP@R`` are metrics without K.
    """
    text = _PERCENT.sub(" ", name).strip()
    if (found := _AT.search(text)) is not None:
        metric, k = found["metric"].lower(), found["k"]
        if metric in _RECALLS and k.isdigit():
            return ScoreName(block=_rest(text, found), metric=RECALL, k=int(k))
        label = RECALL if metric in _RECALLS else f"{found['metric']}@{k}"
        return ScoreName(block=_rest(text, found), metric=label, k=None)
    for pattern in (_RECALL_1, _R1):
        found = pattern.search(text)
        if found is not None and not (pattern is _R1 and int(found["k"]) in _RESNETS):
            return ScoreName(block=_rest(text, found), metric=RECALL, k=int(found["k"]))
    if (found := _METRIC.search(text)) is not None:
        return ScoreName(block=_rest(text, found), metric=_PLAIN[normal(found[1])], k=None)
    return None


def is_no_score(name: str) -> bool:
    """Whether a column's name says that its numbers are no scores: a year, a dimension, a mean."""
    words = normal(name)
    return words in _NO_SCORES | _SPREADS or words.rpartition("_")[2] in _ENDS


def k_of(text: str) -> int | None:
    """The K of a cell such as ``R@4`` or ``4``; None if it holds none."""
    if re.fullmatch(r"\s*\d{1,10}\s*", text):
        return int(text)
    found = score_name(text)
    return None if found is None or found.block else found.k


def _rest(text: str, found: re.Match[str]) -> str:
    """The name without its metric, nor what joined them."""
    parts = (text[: found.start()].strip(_EDGES), text[found.end() :].strip(_EDGES))
    return " ".join(part for part in parts if part)
