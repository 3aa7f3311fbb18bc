"""A translation model for other tools and of theirs: Hugging Face, CTranslate2, Argos, ONNX."""
