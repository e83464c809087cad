"""Ge et al. 2018 on one batch: the tree class by class and level by level, then the triplets."""

from itertools import combinations, product


def oracle(batch, parameters, *, margin, levels):
    z = batch.embeddings_BD / batch.embeddings_BD.norm(dim=1, keepdim=True)
    labels = batch.labels_B.tolist()
    members = {c: [i for i, label in enumerate(labels) if label == c] for c in labels}
    within, between = distances_of_classes(z.detach(), members)
    merging = thresholds_of_merging(within, between, members, levels)
    costs = []
    for a, p, n in product(range(len(z)), repeat=3):
        if a != p and labels[a] == labels[p] and labels[a] != labels[n]:
            dynamic = margin + merging[labels[a], labels[n]] - within[labels[a]]
            to_positive, to_negative = ((z[a] - z[i]).square().sum() for i in (p, n))
            costs.append((to_positive - to_negative + dynamic).clamp(min=0.0) / 2.0)
    return sum(costs) / len(costs) if costs else batch.embeddings_BD.sum() * 0.0


def distances_of_classes(z, members):
    """Mean squared distance within each class of several images, and between any two classes."""

    def mean_square(pairs):
        squares = [float((z[i] - z[j]).square().sum()) for i, j in pairs]
        return sum(squares) / len(squares)

    within = {
        c: mean_square(combinations(images, 2)) for c, images in members.items() if len(images) > 1
    }
    between = {
        (p, q): mean_square(product(members[p], members[q])) for p, q in product(members, repeat=2)
    }
    return within, between


def thresholds_of_merging(within, between, members, levels):
    """The threshold of the level at which two classes first are in one node."""
    lowest = sum(within.values()) / len(within) if within else 0.0
    found = {}
    for level in range(levels + 1):
        threshold = lowest + (4.0 - lowest) * level / levels
        nodes = [{c} for c in members]
        while merged := next(
            (
                (one, other)
                for one, other in combinations(nodes, 2)
                if level == levels
                or any(between[p, q] < threshold for p, q in product(one, other))
            ),
            None,
        ):
            nodes = [node for node in nodes if node not in merged] + [set.union(*merged)]
        for node in nodes:
            for p, q in product(node, repeat=2):
                found.setdefault((p, q), threshold)
    return found
