"""Bytes in folders and object stores: whole files, checksummed texts, local copies, retries."""
