package example;

class IoTest {}
