"""The one reader of tables: cells in an Arrow table, and what they mean once somebody asks for numbers or text."""
