"""Figures of runs: each function returns a matplotlib Figure. Needs the extra `plots`."""
