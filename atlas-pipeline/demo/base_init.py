"""Wrap text at a width."""


def wrap(text, width):
    """The lines of text, none longer than width characters."""
    if width < 1:
        raise ValueError("width must be at least 1")
    lines, line = [], ""
    for word in text.split():
        word = word[:width]
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return lines + [line] if line else lines
