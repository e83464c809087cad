"""Losses of similar names or formulas: family -> loss -> how it differs from its siblings."""

FAMILIES = {
    "contrastive": {
        "contrastive": "cosines, linear hinge on negatives; the thesis's form",
        "contrastive_hinge": "squared distances, linear hinge: twice contrastive at 1 - margin /"
        " 2",
        "contrastive_l2": "distances, squared hinges with a margin on both sides; the original",
        "mean_field_contrastive": "linear hinges on cosines to a proxy of each class",
        "selectively_contrastive": "the nearest positive against the nearest negative, or a hard"
        " negative alone",
    },
    "lifted": {
        "lifted_mined": "cosines of mined pairs, no margin or hinge; the thesis's code",
        "lifted_song": "distances, any length, one positive pair at a time, squared hinge; the"
        " original",
        "lifted_structure": "cosines, all positives of an anchor at once, hinge; the thesis's"
        " equation",
    },
    "margin": {
        "margin": "distances on both sides of a boundary; the original",
        "margin_cosine": "cosines on both sides of a boundary",
        "threshold_consistent_margin": "hinges on cosines with two thresholds; a term beside"
        " another loss",
        "tuplet_margin": "no boundary: a positive, given an angle, against all negatives at once",
    },
    "multi_similarity": {
        "dr_multi_similarity": "multi_similarity that spares negatives in the direction of the"
        " positive",
        "mean_field_multi_similarity": "soft hinges between classes and proxies, no mining",
        "multi_similarity": "mined pairs, soft weights; the original",
    },
    "n_pair": {
        "n_pair": "dot products; the original",
        "n_pair_l2": "squared distances, which compare lengths as well",
    },
    "nca": {
        "dr_proxy_nca": "proxy_nca with a term on the direction of other proxies",
        "nca": "neighbours in the batch, no proxies",
        "proxy_nca": "proxies, own class not in the sum",
        "proxy_nca_pp": "proxies, own class in the sum: a softmax; sharper by default",
    },
    "nt_xent": {
        "nt_xent": "cosines; the original",
        "nt_xent_euclidean": "Euclidean distances of embeddings of any length",
        "nt_xent_poincare": "hyperbolic distances of embeddings of any length",
    },
    "quadruplet": {
        "quadruplet": "triplets and pairs without a common image, two hinges on squared distances",
        "quadruplet_similarity": "every positive pair against every negative pair, soft, on"
        " cosines",
    },
    "softmax": {
        "arcface": "normalized_softmax with a margin on the angle",
        "cosface": "normalized_softmax with a margin on the cosine",
        "l_softmax": "softmax with a multiple of the angle to the own class",
        "normalized_softmax": "cosines times a scale, no margin",
        "softmax": "a linear classifier on embeddings of any length",
        "sphereface": "l_softmax with proxies of length 1",
        "subcentre_arcface": "arcface with several centres a class, of which the nearest counts",
    },
    "thesis_loss": {
        "thesis_loss_1": "proxies push each other by their cosines; equation 6.1",
        "thesis_loss_2": "proxies push each other by how alike the batch sees them; equation 6.2",
    },
    "triplet": {
        "dense_triplet": "by distance of labels, not by class; one anchor a batch, no mining",
        "dr_triplet": "triplet_l2 that spares negatives in the direction of the positive",
        "hierarchical_triplet": "triplet_l2 with a margin for each pair of classes from a tree"
        " of classes",
        "lefebvre_triplet": "by class, no margin or mining: squared errors to target cosines 1"
        " and 0",
        "neighbour_triplet": "the nearest by label against all others; one anchor a batch, no"
        " mining",
        "threshold_triplet": "labels within a threshold against all others; one anchor a batch,"
        " no mining",
        "triplet": "by class, hinge on cosines of mined triplets; the thesis's form",
        "triplet_l2": "by class, hinge on squared distances: twice triplet at half the margin;"
        " FaceNet",
    },
}
