"""The trainer: knows a learner by its protocol, and nothing of what is learned."""
