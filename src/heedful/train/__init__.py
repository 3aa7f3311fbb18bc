"""The trainer: knows a task by its protocol, and nothing of what is learned."""
