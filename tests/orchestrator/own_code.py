"""A loss of one's own in modules that no other test imports, and a small study of it."""

from dataclasses import replace
from uuid import uuid4

from podium.orchestrator.study.study import EarlyStopping, FinalSettings, KeepSettings, StudyLoss
from podium.search_spaces.parameters import Real, Space
from tests.orchestrator.small_study import STUDY

LOSS = """
import torch
import {helper}
class Mine(torch.nn.Module):
    def __init__(self, margin: float = 0.1):
        super().__init__()
"""


class OwnCode:
    """A loss of one's own and its helper, in modules that no other test imports."""

    def __init__(self, folder):
        name = uuid4().hex
        self.loss, self.helper = (folder / f"{kind}_{name}.py" for kind in ("own", "helper"))
        self.loss.write_text(LOSS.format(helper=self.helper.stem))
        self.helper.write_text("SCALE = 1\n")
        self.path = f"{self.loss.stem}:Mine"

    @property
    def study_loss(self):
        return StudyLoss(self.path, space=Space({"margin": Real(0.1, 0.9)}))

    def study(self, **changes):
        small = replace(
            STUDY,
            name="own",
            embedding_dims=(8,),
            losses=(StudyLoss("contrastive"), self.study_loss),
            search=replace(STUDY.search, trials=3, early_stopping=EarlyStopping(kind="none")),
            final=FinalSettings(seeds=1),
            keep=KeepSettings(models=False, embeddings=False),
        )
        return replace(small, **changes)
