int kettle(void) { return 1; }
