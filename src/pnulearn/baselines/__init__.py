"""The semi-supervised classifiers that the paper compares with, under one interface."""
