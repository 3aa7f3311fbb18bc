"""From files to batches: reading, normalising, checking, pieces, ids, batches."""
