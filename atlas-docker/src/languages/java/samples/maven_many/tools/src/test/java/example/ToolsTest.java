package example;

class ToolsTest {}
