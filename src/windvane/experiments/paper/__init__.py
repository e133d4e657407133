"""The paper's tables and claims, one file each."""
