"""Models of other tools in, models for other tools out."""
