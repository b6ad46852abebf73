"""A module per topic: what is tried, and how every entry point is asked."""
