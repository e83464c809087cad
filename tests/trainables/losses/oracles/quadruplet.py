"""Chen et al. 2017, quadruplet by quadruplet."""


def oracle(batch, parameters, *, triplet_margin, quadruplet_margin):
    z, labels = batch.embeddings_BD, batch.labels_B.tolist()
    z = z / z.norm(dim=1, keepdim=True)
    squares = [[(x - y).square().sum() for y in z] for x in z]
    values = [[square.item() for square in row] for row in squares]
    pairs = [(i, j) for i in range(len(z)) for j in range(len(z)) if i != j]
    negatives = [(k, m) for k, m in pairs if labels[k] != labels[m]]
    triplets, quadruplets = [], []
    for i, j in pairs:
        if labels[i] != labels[j]:
            continue
        for k, m in negatives:
            if k == i and values[i][j] - values[i][m] + triplet_margin > 0.0:
                triplets.append((i, j, i, m))
            if labels[i] in (labels[k], labels[m]):
                continue
            if values[i][j] - values[k][m] + quadruplet_margin > 0.0:
                quadruplets.append((i, j, k, m))
    total = z.sum() * 0.0
    for tuples, margin in ((triplets, triplet_margin), (quadruplets, quadruplet_margin)):
        # A pair is in many quadruplets: to multiply is faster than to add it up.
        counts = {}
        for i, j, k, m in tuples:
            counts[i, j] = counts.get((i, j), 0) + 1
            counts[k, m] = counts.get((k, m), 0) - 1
        costs = [count * squares[i][j] for (i, j), count in counts.items()]
        if tuples:
            total = total + sum(costs) / len(tuples) + margin
    return total
