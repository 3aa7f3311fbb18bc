"""Heedful: the Transformer as a product."""

__version__ = "0.1.0"
