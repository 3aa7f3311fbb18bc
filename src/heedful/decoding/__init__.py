"""Searching for a translation: the search knows a protocol, not a model."""
