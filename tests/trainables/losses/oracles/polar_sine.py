"""Berlemont et al. 2016, reference by reference, each tuple's determinant by itself."""

import torch


def oracle(batch, parameters, *, negative_weight):
    z = [x / x.norm() for x in batch.embeddings_BD]
    dim = batch.embeddings_BD.shape[1]
    members = {}
    for i, label in enumerate(batch.labels_B.tolist()):
        members.setdefault(label, []).append(i)
    classes = sorted(members)
    total, num_references = batch.embeddings_BD.sum() * 0.0, 0
    for own, label in enumerate(classes):
        part = classes[own // dim * dim : (own // dim + 1) * dim]
        for rank, i in enumerate(members[label]):
            positives = [j for j in members[label] if j != i]
            if not positives:
                continue
            num_references += 1
            pull = sum((1.0 - torch.dot(z[i], z[j])) ** 2 for j in positives) / len(positives)
            vectors = [z[members[c][rank]] for c in part if len(members[c]) > rank]
            unit = torch.stack(vectors)
            identity = torch.eye(len(unit), dtype=unit.dtype)
            gram = (1.0 - 1e-6) * (unit @ unit.T) * (1.0 - identity) + identity
            polar_sine = torch.linalg.det(gram) ** (1.0 / len(unit))
            total = total + pull + negative_weight * (1.0 - polar_sine) ** 2
    return total / max(1, num_references)
