class NestedTest {}
