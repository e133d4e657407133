"""The routes, a file a concept."""
