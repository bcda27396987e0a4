"""A corner shop."""
