"""Small changes of the core that some test has to notice (`make mutants`)."""
