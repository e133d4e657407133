"""Experiments: a plan -> runs -> table and figure."""
