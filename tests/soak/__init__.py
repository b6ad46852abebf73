"""Commands that are killed at random moments and run again (`make soak`)."""
