"""Images and features as files: decoded, resized and hashed once, whole and under locks."""
