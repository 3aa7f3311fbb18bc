"""Terms that are to be translated as somebody wants, whatever the model says."""
