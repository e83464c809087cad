"""The space `joint`: what is searched of a loss by default. Ranges are this project's own.

A loss without a row is searched over what its class states as ``search_space``, if anything.
"""

from podium.search_spaces.parameters import Choice, Every, Int, Ranges, Real

JOINT: dict[str, Ranges] = {
    "angular": {"angle_degrees": Real(30.0, 55.0), "form": Every()},
    "arcface": {"margin_degrees": Real(0.0, 60.0), "scale": Real(8.0, 256.0, log=True)},
    "binomial_deviance": {
        "alpha": Real(1.0, 10.0, log=True),
        "margin": Real(0.0, 1.0),
        "negative_weight": Real(1.0, 50.0, log=True),
    },
    "chopra": {"distance": Every(), "decay": Real(1.0, 20.0, log=True)},
    "circle": {"gamma": Real(16.0, 512.0, log=True), "margin": Real(0.0, 0.7)},
    "contrastive": {"margin": Real(0.0, 1.0)},
    "contrastive_hinge": {"margin": Real(0.0, 2.0)},
    "contrastive_l2": {"positive_margin": Real(0.0, 0.8), "negative_margin": Real(0.1, 1.5)},
    "cosface": {"margin": Real(0.0, 1.0), "scale": Real(8.0, 256.0, log=True)},
    "cosine_pairwise": {"target_negative": Real(-1.0, 0.0)},
    "csml": {"negative_weight": Real(0.1, 10.0, log=True)},
    "dense_triplet": {"margin": Real(3e-3, 1.0, log=True)},
    "dr_multi_similarity": {
        "alpha": Real(0.5, 64.0, log=True),
        "beta": Real(10.0, 200.0, log=True),
        "margin": Real(0.0, 1.0),
        "epsilon": Real(0.0, 1.0),
        "gamma": Real(0.01, 1.0, log=True),
    },
    "dr_proxy_nca": {"scale": Real(1.0, 64.0, log=True), "gamma": Real(0.01, 1.0, log=True)},
    "dr_triplet": {
        "margin": Real(0.02, 1.0),
        "miner": Every(),
        "gamma": Real(0.01, 1.0, log=True),
    },
    "fast_ap": {"bins": Int(5, 64)},
    "gradml": {"k": Real(1.0, 4.0), "w": Real(0.5, 2.0, log=True)},
    "hierarchical_triplet": {"margin": Real(0.0, 0.5), "levels": Int(2, 32)},
    "histogram": {"bins": Int(25, 200, log=True)},
    "intra_pair_variance": {"positive_slack": Real(0.0, 0.2), "negative_slack": Real(0.0, 0.2)},
    "l_softmax": {"multiplier": Int(2, 6), "softness": Real(0.0, 20.0)},
    "language_guidance": {"temperature": Real(0.1, 2.0, log=True), "gamma": Real(0.0, 2.0)},
    "lifted_mined": {
        "alpha": Real(5.0, 100.0, log=True),
        "beta": Real(0.5, 20.0, log=True),
        "epsilon": Real(0.0, 1.0),
    },
    "lifted_song": {"margin": Real(0.2, 2.0)},
    "lifted_structure": {"margin": Real(0.0, 1.0)},
    "log_ratio": {"squared": Choice((True, False))},
    # Without nu, which the authors' code leaves at 0.
    "margin": {"margin": Real(0.0, 0.5), "beta": Real(0.5, 1.6), "miner": Every()},
    "margin_cosine": {"margin": Real(0.0, 0.5), "beta": Real(0.0, 1.2), "miner": Every()},
    "mean_field_contrastive": {
        "positive_margin": Real(0.0, 0.5),
        "negative_margin": Real(0.2, 1.2),
        "field_weight": Real(0.1, 10.0, log=True),
        "power": Real(1.0, 3.0),
    },
    "multi_similarity": {
        "alpha": Real(0.5, 64.0, log=True),
        "beta": Real(10.0, 200.0, log=True),
        "margin": Real(0.0, 1.0),
        "epsilon": Real(0.0, 1.0),
    },
    "n_pair": {"norm_weight": Real(1e-4, 1e-1, log=True)},
    "n_pair_l2": {"norm_weight": Real(1e-4, 1e-1, log=True)},
    "nca": {"softmax_scale": Real(1.0, 64.0, log=True)},
    "neighbour_triplet": {"margin": Real(3e-3, 1.0, log=True), "neighbours": Int(1, 10)},
    "normalized_softmax": {"scale": Real(4.0, 128.0, log=True)},
    "nt_xent": {"temperature": Real(0.02, 0.5, log=True), "variant": Every()},
    "pnp": {"temperature": Real(3e-3, 0.3, log=True), "variant": Every()},
    "polar_sine": {"negative_weight": Real(0.1, 10.0, log=True)},
    "probability_driven": {
        "initial_scale": Real(1.0, 50.0, log=True),
        "initial_offset": Real(-20.0, 0.0),
    },
    "proxy_anchor": {"alpha": Real(4.0, 100.0, log=True), "margin": Real(0.0, 0.5)},
    "proxy_gml": {
        "subproxies": Int(1, 16, log=True),
        "ratio": Real(0.01, 0.3, log=True),
        "regulariser": Real(0.0, 1.0),
    },
    "proxy_nca": {"scale": Real(1.0, 64.0, log=True)},
    "proxy_nca_pp": {"scale": Real(1.0, 64.0, log=True)},
    "quadruplet": {"triplet_margin": Real(0.0, 1.0), "quadruplet_margin": Real(0.0, 1.0)},
    "quadruplet_similarity": {"gamma": Real(1.0, 100.0, log=True)},
    "ranked_list": {
        "radius": Real(0.8, 1.5),
        "margin": Real(0.1, 0.8),
        "imbalance": Real(0.1, 0.9),
        "sharpness": Real(1.0, 30.0, log=True),
    },
    "recall_at_k": {
        "temperature": Real(3e-3, 0.3, log=True),
        "rank_temperature": Real(0.3, 3.0, log=True),
    },
    "selectively_contrastive": {
        "hard_weight": Real(0.1, 3.0, log=True),
        "temperature": Real(0.02, 0.5, log=True),
    },
    "smooth_ap": {"temperature": Real(3e-3, 0.3, log=True)},
    "soft_triple": {
        "centres": Int(1, 10, log=True),
        "scale": Real(4.0, 200.0, log=True),
        "gamma": Real(0.01, 100.0, log=True),
        "margin": Real(0.0, 1.0),
        "tau": Real(0.01, 1.0, log=True),
    },
    "sphereface": {"multiplier": Int(2, 6), "softness": Real(0.0, 20.0)},
    "statistical": {
        "mean_scale": Real(0.1, 10.0, log=True),
        "covariance_scale": Real(0.001, 10.0, log=True),
    },
    "structural": {
        "margin": Real(0.0, 1.0),
        "temperature": Real(0.1, 1.0, log=True),
        "variance_weight": Real(0.01, 10.0, log=True),
        "positive_variance": Real(0.001, 0.5, log=True),
        "negative_variance": Real(0.001, 0.5, log=True),
    },
    "subcentre_arcface": {
        "centres": Int(1, 10, log=True),
        "margin_degrees": Real(0.0, 60.0),
        "scale": Real(8.0, 256.0, log=True),
    },
    "sup_ap": {
        "temperature": Real(3e-3, 0.3, log=True),
        "slope": Real(10.0, 300.0, log=True),
        "offset": Real(1.0, 2.0),
        "delta": Real(0.01, 0.2, log=True),
    },
    "sup_con": {"temperature": Real(0.02, 0.5, log=True)},
    "thesis_loss_1": {"alpha": Real(4.0, 100.0, log=True), "margin": Real(0.0, 0.5)},
    # Down to smaller alphas than proxy_anchor's, since sums over a batch are larger than cosines.
    "thesis_loss_2": {
        "alpha": Real(1.0, 64.0, log=True),
        "margin": Real(0.0, 0.5),
        "mean_over_batch": Every(),
    },
    "threshold_consistent_margin": {
        "positive_margin": Real(0.5, 1.0),
        "negative_margin": Real(0.0, 0.7),
        "negative_weight": Real(0.1, 10.0, log=True),
    },
    # The threshold is of label distances from 0 to 1, such as 1 - IoU.
    "threshold_triplet": {"margin": Real(3e-3, 1.0, log=True), "threshold": Real(0.1, 0.9)},
    "triplet": {"margin": Real(0.01, 0.5), "miner": Every()},
    "triplet_l2": {"margin": Real(0.02, 1.0), "miner": Every()},
    "tuple_pairwise": {"norm_weight": Real(0.01, 10.0, log=True)},
    "tuplet_margin": {"margin_degrees": Real(0.0, 20.0), "scale": Real(8.0, 256.0, log=True)},
}
