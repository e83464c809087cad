"""One epoch after another: optimisers, gradients, and the evaluation of what was learned."""
