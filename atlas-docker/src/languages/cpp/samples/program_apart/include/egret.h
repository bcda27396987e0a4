inline int legs() { return 2; }
