"""Tests of differences between competitors, and of which pairs differ significantly."""
