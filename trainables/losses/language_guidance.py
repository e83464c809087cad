"""Language guidance (Roth et al. 2022): cosines of images follow those of their class names.

S_BB = cosines of images, L_BB = cosines of class names, B = batch, T = length of a text vector.
"""

from torch.nn.functional import normalize

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.losses._pairs import cosines
from podium.trainables.settings.legal_ranges import Interval, Parameter


class LanguageGuidance(Loss):
    """Images of two classes should be as similar as the names of the classes are.

    temperature^2 * mean over anchors of KL(softmax(A / temperature), softmax(B / temperature)).
    A has S, the cosines of the anchor's image to those of the batch, B has gamma + L, where L are
    the cosines of the names of their classes. In both, every image of the anchor's own class,
    itself included, has 1 + gamma.

    Source: Roth et al. 2022. As printed (equations 29 and 30 of the survey arXiv 2312.10046) gamma
    has no effect, since a softmax does not change if all of its exponents are shifted. It has one
    through the entries of the anchor's own class, which the authors' code sets in both matrices
    and the formula does not mention. Temperature and direction too are those of their code.

    It says nothing about images of one class, so it is a term beside another loss:
    ``multi_similarity+language_guidance``. Beside multi-similarity on ResNet-50 the authors
    weigh it with 7.5 to 10 on CUB200-2011 and 5.5 to 6 on CARS196; a search may go from 0.5 to 20
    in the logarithm.

    A batch of one class gives 0 with gradient 0.

    Args:
        temperature: temperature of both softmaxes (cosine).
        gamma: offset added to the cosines of the names.
    """

    kind = "text"
    source = (
        "Roth et al. 2022, Integrating Language Guidance into Vision-based Deep Metric"
        " Learning, with the authors' code"
    )
    needs = frozenset({"class_text", "normalised"})
    declared = {
        "temperature": Parameter(
            1.0, Interval(1e-2, 100.0), unit="cosine", source="authors' code"
        ),
        "gamma": Parameter(1.0, Interval(0.0, 10.0), unit="cosine", source="authors' code"),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A pair of two different images is active if their classes differ."""
        temperature, gamma = hyperparameters["temperature"], hyperparameters["gamma"]
        assert batch.class_text_BT is not None, "the batch must bring class_text_BT"
        text_BT = normalize(batch.class_text_BT.to(batch.normalised_BD.dtype), dim=1)
        differs_BB = batch.labels_B[:, None] != batch.labels_B
        # Without gamma + 1, by which both matrices are shifted: 0 is the anchor's own class.
        image_BB = (cosines(batch) - gamma - 1.0).where(differs_BB, 0.0) / temperature
        language_BB = (text_BT @ text_BT.T - 1.0).where(differs_BB, 0.0) / temperature
        log_p_BB, log_q_BB = image_BB.log_softmax(1), language_BB.log_softmax(1)
        divergence_B = (log_p_BB.exp() * (log_p_BB - log_q_BB)).sum(1)
        num_pairs = max(1, len(differs_BB) * (len(differs_BB) - 1))
        return LossOutput(temperature**2 * divergence_B.mean(), differs_BB.sum() / num_pairs)
