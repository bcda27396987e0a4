int barley(void) { return 1; }
