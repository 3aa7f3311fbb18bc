"""LibreTranslate's API, over models that translate."""
