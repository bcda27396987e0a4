inline int wing() { return 2; }
