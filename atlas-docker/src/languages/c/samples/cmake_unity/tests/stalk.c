#include "unity/src/unity.h"
