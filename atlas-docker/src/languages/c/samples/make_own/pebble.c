#include "pebble.h"
