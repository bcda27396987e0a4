int pebble;
