"""Losses that give what no loss should, or do what some losses do."""

import torch
from torch.nn.functional import normalize


class _Base(torch.nn.Module):
    def good(self, e, labels):
        c = normalize(e) @ normalize(e).T
        s = labels[:, None] == labels
        return (1 - c)[s].mean() + (c[~s] - 0.5).relu().mean()


class Nan(_Base):
    def forward(self, e, labels):
        return self.good(e, labels) * float("nan")


class NanLater(_Base):
    n = 0

    def forward(self, e, labels):
        NanLater.n += 1
        return self.good(e, labels) * (float("nan") if NanLater.n == 5 else 1)


class NoGrad(_Base):
    n = 0

    def forward(self, e, labels):
        NoGrad.n += 1
        return torch.tensor(0.0) if NoGrad.n % 2 else self.good(e, labels)


class AlwaysNoGrad(_Base):
    def forward(self, e, labels):
        return torch.tensor(0.0)


class PyZero(_Base):
    n = 0

    def forward(self, e, labels):
        PyZero.n += 1
        return 0.0 if PyZero.n % 2 else self.good(e, labels)


class Vector(_Base):
    def forward(self, e, labels):
        return self.good(e, labels).expand(len(labels))


class Dict(_Base):
    def forward(self, e, labels):
        return {"loss": self.good(e, labels)}


class Tuple(_Base):
    def forward(self, e, labels):
        return self.good(e, labels), {"x": 1}


class OneElement(_Base):
    def forward(self, e, labels):
        return self.good(e, labels)[None]


class Int(_Base):
    def forward(self, e, labels):
        return torch.tensor(3)


class Raises(_Base):
    def forward(self, e, labels):
        raise ValueError("no triplets in batch ±")


class Detached(_Base):
    def forward(self, e, labels):
        return self.good(e.detach(), labels)


class InPlace(_Base):
    def forward(self, e, labels):
        e /= e.norm(dim=1, keepdim=True)
        return self.good(e, labels)


class Prints(_Base):
    def forward(self, e, labels):
        print("Verlust ü ±", labels.dtype, labels.min().item(), labels.max().item())
        return self.good(e, labels)


class Inf(_Base):
    def forward(self, e, labels):
        return self.good(e, labels) + float("inf")
