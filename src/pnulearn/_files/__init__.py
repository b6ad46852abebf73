"""Files that are written whole and read without running code."""
