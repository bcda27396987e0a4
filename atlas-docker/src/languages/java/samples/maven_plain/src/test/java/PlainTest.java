class PlainTest {}
