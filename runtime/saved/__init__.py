"""Saved values of nodes, and how views and writes affect them."""
