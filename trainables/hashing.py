"""One way to hash plain values, the same on every machine."""

import hashlib
import json


def digest(values: object) -> str:
    """16 hex digits for values of lists, mappings, text, numbers, booleans and None."""
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
