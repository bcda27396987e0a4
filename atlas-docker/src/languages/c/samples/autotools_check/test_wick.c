#include <check.h>
