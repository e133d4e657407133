"""The routes, one file per concept."""
