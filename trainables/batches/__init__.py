"""From images or features to the batches that a network sees."""
