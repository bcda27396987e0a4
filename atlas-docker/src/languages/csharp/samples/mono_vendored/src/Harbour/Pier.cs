public class Pier {}
