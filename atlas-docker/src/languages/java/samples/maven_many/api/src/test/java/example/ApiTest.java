package example;

class ApiTest {}
