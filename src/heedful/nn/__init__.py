"""The mathematics of the Transformer: torch and our errors, nothing else of ours.

Read in this order: `kernels` (attention itself), `attention` (many heads), `layers` (sublayers
around it), `stacks` (encoder and decoder), `loss`. Whole models are in `heedful.models`.
"""
