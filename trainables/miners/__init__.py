"""Masks over pairs and triplets, one module a miner."""
