"""What several prior estimators share."""
