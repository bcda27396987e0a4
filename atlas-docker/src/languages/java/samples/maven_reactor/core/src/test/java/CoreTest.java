class CoreTest {}
