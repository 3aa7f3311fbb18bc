"""Speed and memory, measured beside the peers; never asserted as wall-clock in a test."""
