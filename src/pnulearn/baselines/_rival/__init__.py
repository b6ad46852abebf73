"""What all rivals share."""
