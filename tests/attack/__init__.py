"""Bad inputs against every entry point: what each cell must do stands in table.csv, `make attack` runs them all."""
