"""Speed and memory, measured; never asserted as wall-clock in a test."""
