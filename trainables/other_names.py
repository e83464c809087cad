"""What people type who know pytorch-metric-learning or other tools, and what podium calls it."""

import re
from collections.abc import Mapping
from types import MappingProxyType

PML_NAMES: Mapping[str, str | None] = MappingProxyType(
    {
        # Losses
        "AngularLoss": "angular",
        "ArcFaceLoss": "arcface",
        "CircleLoss": "circle",
        "ContrastiveLoss": "contrastive",
        "CosFaceLoss": "cosface",
        "DynamicSoftMarginLoss": None,
        "FastAPLoss": "fast_ap",
        "GeneralizedLiftedStructureLoss": "lifted_structure",
        "GenericPairLoss": None,
        "HistogramLoss": "histogram",
        "InstanceLoss": None,
        "IntraPairVarianceLoss": "intra_pair_variance",
        "LargeMarginSoftmaxLoss": "l_softmax",
        "LiftedStructureLoss": "lifted_song",
        "ManifoldLoss": None,
        "MarginLoss": "margin",
        "MultiSimilarityLoss": "multi_similarity",
        "NCALoss": "nca",
        "NPairsLoss": "n_pair",
        "NTXentLoss": "nt_xent",
        "NormalizedSoftmaxLoss": "normalized_softmax",
        "P2SGradLoss": "p2sgrad",
        "PNPLoss": "pnp",
        "ProxyAnchorLoss": "proxy_anchor",
        "ProxyNCALoss": "proxy_nca",
        "RankedListLoss": "ranked_list",
        "SelfSupervisedLoss": None,
        "SignalToNoiseRatioContrastiveLoss": None,
        "SmoothAPLoss": "smooth_ap",
        "SoftTripleLoss": "soft_triple",
        "SphereFaceLoss": "sphereface",
        "SubCenterArcFaceLoss": "subcentre_arcface",
        "SupConLoss": "sup_con",
        "ThresholdConsistentMarginLoss": "threshold_consistent_margin",
        "TripletMarginLoss": "triplet",
        "TupletMarginLoss": "tuplet_margin",
        "VICRegLoss": None,
        # New in 3, by its release notes
        "DecoupledContrastiveLoss": "nt_xent",
        "DynamicArcFaceLoss": None,
        "GE2ELoss": None,
        "MultiSupConLoss": None,
        "SelectivelyContrastiveTripletLoss": "selectively_contrastive",
        # Miners
        "AngularMiner": None,
        "BatchEasyHardMiner": None,
        "BatchHardMiner": "batch_hard",
        "DistanceWeightedMiner": "distance_weighted",
        "HDCMiner": None,
        "MultiSimilarityMiner": None,  # part of the loss multi_similarity
        "PairMarginMiner": None,
        "TripletMarginMiner": None,
        "UniformHistogramMiner": None,
        # Samplers
        "FixedSetOfTriplets": None,
        "HierarchicalSampler": None,
        "MPerClassSampler": "balanced",
        "TuplesToWeightsSampler": None,
    }
)
"""Losses, miners and samplers of pytorch-metric-learning 2.9 and 3; None: podium has none."""

_LITERATURE: Mapping[str, str] = MappingProxyType(
    {
        "additiveangularmargin": "arcface",
        "additivemarginsoftmax": "cosface",
        "amsoftmax": "cosface",
        "asoftmax": "sphereface",
        "bindev": "binomial_deviance",
        "ce": "softmax",
        "crossentropy": "softmax",
        "dcl": "nt_xent",
        "dclw": "nt_xent",
        "facenet": "triplet_l2",
        "htl": "hierarchical_triplet",
        "hyperbolic": "nt_xent_poincare",
        "hypvit": "nt_xent_poincare",
        "infonce": "nt_xent",
        "largemargincosine": "cosface",
        "largemarginsoftmax": "l_softmax",
        "lifted": "lifted_song",
        "lmcl": "cosface",
        "ms": "multi_similarity",
        "ms+": "multi_similarity",
        "normface": "normalized_softmax",
        "normsoftmax": "normalized_softmax",
        "pa": "proxy_anchor",
        "recallatksurrogate": "recall_at_k",
        "rll": "ranked_list",
        "roadmap": "sup_ap",
        "rs@k": "recall_at_k",
        "simclr": "nt_xent",
        "sphere": "normalized_softmax",
        "spherereid": "normalized_softmax",
        "supervisedcontrastive": "sup_con",
        "tcm": "threshold_consistent_margin",
        "tripletmargin": "triplet",
    }
)
"""Losses as papers call them, in small letters, without blanks, dashes and a last "loss"."""

_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "lr": "learning_rate",
        "base_lr": "learning_rate",
        "proxy_lr": "proxy_learning_rate",
        "wd": "weight_decay",
        "decay": "weight_decay",
        "num_epochs": "epochs",
        "epochs_num": "epochs",
        "n_epochs": "epochs",
        "max_epochs": "epochs",
        "bs": "batch_size",
        "batchsize": "batch_size",
        "m_per_class": "samples_per_class",
        "images_per_class": "samples_per_class",
        "optimizer": "optimiser",
        "warmup": "warm_up_epochs",
        "warmup_epochs": "warm_up_epochs",
        "embedding_size": "embedding_dims",
        "dims": "embedding_dims",
        "model": "backbones",
        "models": "backbones",
        "backbone": "backbones",
        "trunk": "backbones",
        "network": "backbones",
        "data": "datasets",
        "dataset": "datasets",
        "loss": "losses",
        "name": "study",
        "n_trials": "trials",
        "num_trials": "trials",
        "image_size": "image_sizes",
        "gpus": "gpus_per_trial",
        "cpus": "cpus_per_trial",
    }
)
"""Keys as other tools spell them."""


def usual_name(name: str) -> str | None:
    """What podium calls what other tools call ``name``; None if that is not known."""
    plain = re.sub(r"[\s_-]", "", name.lower()).removesuffix("loss")
    return (
        PML_NAMES.get(name) or _WORDS.get(name.replace("-", "_").lower()) or _LITERATURE.get(plain)
    )
