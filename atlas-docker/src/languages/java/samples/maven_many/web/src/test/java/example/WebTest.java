package example;

class WebTest {}
