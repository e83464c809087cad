"""The study file that ``podium init`` writes: every key, with a comment."""

_TEMPLATE = """\
# A podium study. Only `study` and `losses` must be given; whatever is left out has a default.
# See what it would do: podium plan FILE.  Start or continue it: podium run FILE.
study: {name}                    # names the results folder, <storage>/<study>

# Losses are ranked within blocks: data set x backbone x embedding dimension x image size. Lists
# are crossed.
datasets:
  - {{name: glyphs, script: latin}}  # also greek, cyrillic, armenian, georgian, symbols, all
  - {{name: glyphs, script: greek}}
  # Images on your disk; podium datasets check NAME ROOT checks whether all are there:
  # - {{name: cub200, root: /data/CUB_200_2011}}  # also cars196, sop, in_shop, folder
backbones: [conv_small]          # also resnet50, googlenet, ...; with weights from a file:
  # - {{name: bn_inception, weights: /data/bn_inception-52deb4733.pth}}
embedding_dims: [16, 32]
# image_sizes: [224]             # of image files only; default: the recipe's
losses:                          # podium losses lists them, podium losses NAME what is searched
  - contrastive
  - multi_similarity
  - proxy_anchor
  # With a space of its own; parameters it leaves out stay at their default:
  # - loss: proxy_anchor
  #   space: {{alpha: {{low: 4, high: 100, log: true}}, margin: [0.05, 0.1, 0.2]}}
  #   values: {{margin: 0.2}}        # what holds where the search says nothing, and in its trial 0
  # Together, or from elsewhere:
  # - multi_similarity+softmax                     # a sum; values: {{softmax.weight: 0.1}}
  # - memory:contrastive                             # with a cross-batch memory
  # - matryoshka:multi_similarity                    # over prefixes: Recall@K by dimension
  # - softmax>multi_similarity                       # softmax alone for the first epochs
  # - {{loss: ./myloss.py:MyLoss, label: Ours}}        # a class of your own
  # - loss: pytorch_metric_learning.losses:CircleLoss
  #   space: {{m: {{low: 0.0, high: 0.5}}, gamma: {{low: 16, high: 512, log: true}}}}

# How a config is scored: on training classes kept for validation. Test classes are never seen.
# Or on each training class once: {{kind: kfold, folds: 5}}. A list of them is crossed.
protocol: {{kind: fixed, val_fraction: 0.25, split_seed: 0}}

search:
  # Or random, qmc, grid, coordinate, gp.
  sampler: tpe
  trials: 20                     # per search: block x loss x repeat; the published default first
  space: joint                   # or psomas2020, where a loss has it
  tune: [learning_rate]          # also proxy_learning_rate, weight_decay, warm_up_epochs
  # Or none; or folds, which stops after whole folds only.
  early_stopping: {{kind: asha, grace_epochs: 1, reduction_factor: 3}}
  order: asynchronous            # deterministic: equal tables every time, with idle slots
  lag: 2                         # deterministic: suggestion i sees the results of 0..i-lag
  repeats: 1                     # independent searches of the same loss in the same block
  shared_configs: false          # whether all protocols and repeats evaluate the same configs
  splits: same                   # fresh: each repeat draws its own validation classes
  warm_start: null               # or {{from: FOLDER, top: 3}}: the best configs of earlier results
  max_concurrent: null           # trials at a time; null: as many as resources allow
  population: off                # heads on frozen features: auto, or N, are trained together

# Winner and published default of each search, retrained with fresh seeds, then tested once.
final:
  seeds: 3
  protocol: null                 # null: the split of the search; or {{kind: kfold, folds: 5}}
  train_on: [part]               # also all: on every training class, for the epochs selected

# Required where the training of losses differs: what, and why: docs/explanation/fairness.md.
declared_differences: {{}}

training:
  recipe: fast                   # sets all that is not said here; for image files: psomas2020, ...
  epochs: 8
  batch_size: 32
  samples_per_class: 4
  sampler: balanced
  warm_up_epochs: 0              # epochs in which the backbone rests
  # transform: ./augment.py:NAME  # code of your own that changes training images

# The test by which losses will differ significantly. Declared before the run, fixed after it.
tournament:
  question: other_blocks         # or these_blocks: would the order hold here, with other seeds
  test: null                     # or wilcoxon_holm, friedman, nemenyi: reported beside the verdict
  against: null                  # or a loss: it is compared with each other one, not all pairs
  alpha: 0.05
  rope_points: null              # differences that figures shade as none
  score: null                    # or recall@4, nmi, f1, r_precision, map_at_r; null: the first K
  groups: null                   # or {{GROUP: [LOSS, LOSS], ...}}; null: by kind of loss

# Published values in percent, to be shown beside the results: docs/reference/study-file.md.
expect: null                     # or {{source: PAPER, tolerance: 1.0, file: table.csv}}

quarantine: none                 # record, record_all: score searches on test classes too, unread
metrics: {{k: [1, 2, 4, 8]}}     # Recall@K, the first K decides
keep: {{models: true, embeddings: true}}  # what final trials leave beside their scores
log: []                          # tensorboard, wandb, mlflow: a run of every trial there
budget: {{gpu_hours: null, wall_hours: null, trials: null}}  # of all runs: docs/how-to/budgets.md
resources:                       # of one trial; fractions share a GPU
  cpus_per_trial: 1
  gpus_per_trial: 0
  trial_hours: null              # longer trials fail
  stuck_minutes: 60              # attempts without any sign for so long are repeated; null: never
  checkpoint_minutes: 10         # what a killed trial may lose; 0 saves after every epoch
seed: 0
storage: podium-results          # beside this file, or s3://bucket/folder; --storage overrides it
"""


def study_template(name: str) -> str:
    """A study file with a comment on every key, for a study called ``name``."""
    return _TEMPLATE.format(name=name)
