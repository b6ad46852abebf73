"""From rows or moments to a model: candidates, validation, weights, assembly."""
