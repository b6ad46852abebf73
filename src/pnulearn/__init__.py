"""Learning from positive, negative and unlabelled data."""
