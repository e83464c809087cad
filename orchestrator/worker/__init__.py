"""The process that runs trials: step by step, with its memory, attempts and artifacts."""
