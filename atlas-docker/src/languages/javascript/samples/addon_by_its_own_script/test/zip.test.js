require("node:test");
