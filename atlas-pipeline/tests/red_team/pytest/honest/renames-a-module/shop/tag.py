"""Labels of goods."""


def label(name, price):
    """A price tag."""
    return f"{name.strip().title()}: {price / 100:.2f}"
