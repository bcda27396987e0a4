#define BOOST_TEST_MODULE egret_tests
#include <boost/test/unit_test.hpp>

#include "egret.h"

BOOST_AUTO_TEST_CASE(has_two_legs) { BOOST_CHECK_EQUAL(legs(), 2); }
