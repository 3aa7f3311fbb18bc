"""What a batch, a loss and a score are for each task; the trainer knows only `train/learner.py`."""
