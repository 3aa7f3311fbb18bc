"""The command: parses, calls a verb, shows what it reports. Heavy imports are inside functions."""
