"""Embeddings and labels written as users write them."""

import numpy as np
from safetensors.torch import save_file


def written(folder, name, embeddings, labels):
    """Two .npy files: (embeddings, labels)."""
    files = folder / f"{name}.npy", folder / f"{name}_labels.npy"
    for file, values in zip(files, (embeddings, labels), strict=True):
        np.save(file, values.numpy())
    return files


def written_in_one(folder, name, embeddings, labels):
    """One .safetensors file."""
    file = folder / f"{name}.safetensors"
    save_file({"embeddings": embeddings.contiguous(), "labels": labels.contiguous()}, file)
    return file
