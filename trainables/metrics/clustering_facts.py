"""How NMI and F1 are clustered: they depend on it, so it is written beside them. No torch."""

# One random start and 20 iterations, as pytorch-metric-learning has faiss do it; this seed draws
# the images that faiss draws by its default. It is not the trial's: all losses start from the
# same images.
SEED = 1235
ITERATIONS = 20

# Whatever changes a clustering changes these words.
CLUSTERING = (
    f"podium k-means 1: Lloyd as in float64, one start from images drawn by seed {SEED}, at most "
    f"{ITERATIONS} iterations"
)
