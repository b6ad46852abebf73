"""What must not change by accident: public names, answers of every command in JSON, the text of the report."""
