"""The reader of tables: cells are kept in an Arrow table and parsed as numbers or text on request."""
