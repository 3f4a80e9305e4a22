"""Logs that are still being written: drives the pipeline, changes none of it."""
