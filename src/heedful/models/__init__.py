"""Whole models, made of the layers in `heedful.nn`; `folder` saves and loads them."""
