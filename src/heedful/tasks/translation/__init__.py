"""Translation: pairs of sentences, the Transformer of the paper, BLEU and chrF."""
