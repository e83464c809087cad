"""What docs/examples/findings-screening.md says beside its numbers."""

OPENING = """\
<!-- Made by `python -m docs.make.screening`: edit that file, not this one. -->
# Heads on frozen features first, fine-tuning after?

Heads on frozen features are trained in a fraction of the time of a network. Do they tell which losses, and which configs of
a loss, are good in fine-tuning? Four studies that podium ships:

- `screening-backbone` trains the small network on arrows, operators and shapes. All others start from these weights.
- `screening-heads` searches {losses} losses as heads on its frozen features, {heads_trials} trials a search, in {blocks} blocks of letters.
- `screening-cold` fine-tunes the network with the same losses in the same blocks, {trials} trials a search.
- `screening-warm` does so once more, but tries the five best configs of the heads
  [after the published default](../reference/samplers.md#warm-starts).

All search the same hyperparameters in the same ranges, and select by the same validation classes. Intervals are 95 % ones
over blocks. [What each number is](../explanation/statistics/README.md).

## Results
"""

MEANING = """
## Interpretation

- **The ranking of tuned heads did not carry over reliably.** In no block does it agree significantly with that of
  tuned fine-tuning, and on average hardly at all. But two fine-tuned searches, and two seeds of the same finals, do not
  agree reliably with each other either: the losses are closer than this study can resolve. So the low agreement is
  no proof that heads and fine-tuning differ.
- **Published defaults are ranked alike** by heads and by fine-tuning, in all blocks. Why tuned losses are not was
  not studied; that untuned losses differ more, so that their order is easier to see, would explain it.
- **Good configs of a loss carry over.** Configs that were not selected are ordered similarly by heads and by
  fine-tuning. Among the best heads, which lie close together, the order says little: try several of them.
- **A warm start gives good validation scores early.** It leads most after a few trials; at the end of the search
  little of the lead is left. That test scores of what it selects are higher cannot be said with certainty.
- **Whether it pays depends on the network.** Here a head took a quarter of the time of a fine-tuning trial, and the 32
  heads of a search took the time of about as many fine-tuning trials as they saved. With networks of millions of weights
  [an epoch of a head is hundreds of times quicker](../how-to/frozen-features.md), and heads cost next to
  nothing.
- **Do not drop losses by their rank as heads.** Screen configs, not losses.
"""

LIMITS = """
## Limits

- The data are letters, the network is small, its weights come from symbols, and training is short. Three blocks share
  these weights, and ten losses in a block share its classes. Intervals over three blocks are wide and lean on few values.
- `learning_rate` is that of the head alone on frozen features, and of head and network in fine-tuning, since
  `head_learning_rate_factor` is 1 in both. With another factor the head's rate is still the same, the network's is not.
- The score to reach is set by the warm search itself, by its best of six. That favours it; the other way round,
  where the cold search sets the score, is given beside it, and its interval includes 0.
- Heads and fine-tuning validate on the same classes, so the best heads were selected on them as well. The gain on
  validation is therefore optimistic; the gain on test is not.
- Seconds were measured on two cores that had other work as well. The studies did not run under the same load.
- One run of each search, two seeds of each final.

## Reproduction

```console
$ podium run studies/screening-backbone.yaml
$ podium trials screening-backbone
$ podium trial export ID --output podium-results/screening-backbone.safetensors
$ podium run studies/screening-heads.yaml
$ podium run studies/screening-cold.yaml
$ podium run studies/screening-warm.yaml
$ python -m docs.make.screening podium-results
```

ID is that of the only trial of the stage `final`. The studies took about 16 minutes of one worker slot on a busy machine, and
the last line writes this page. They look for the weights and for the heads in `podium-results` beside the folder `studies`; elsewhere,
`--set search.warm_start.from=FOLDER` and `--set backbones.0.weights=FILE` say where they are.
"""
