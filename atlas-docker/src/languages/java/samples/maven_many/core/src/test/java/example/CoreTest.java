package example;

class CoreTest {}
