"""Sums over rows that are collected anywhere and added up."""
