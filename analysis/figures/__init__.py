"""One figure a file: plain values in, one inline SVG out."""
