"""Types of this package."""

Cents = int
