class ChainTest {}
