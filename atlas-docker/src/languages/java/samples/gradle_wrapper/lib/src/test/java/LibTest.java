class LibTest {}
