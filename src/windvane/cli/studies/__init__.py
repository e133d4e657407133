"""The verbs of `windvane study`: one file each."""
