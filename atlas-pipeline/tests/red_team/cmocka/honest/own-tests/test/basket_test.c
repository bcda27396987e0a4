#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "basket.h"

static const int three[] = {1, 2, 3};

static void test_adds_the_prices(void **state)
{
  (void)state;
  assert_int_equal(basket_total(three, 3, 0), 6);
}

static void test_sums_nothing(void **state)
{
  (void)state;
  assert_int_equal(basket_total(three, 0, 0), 0);
}

static void test_takes_a_discount_off(void **state)
{
  (void)state;
  assert_int_equal(basket_total(three, 3, 50), 3);
}

static void test_takes_all_off(void **state)
{
  (void)state;
  assert_int_equal(basket_total(three, 3, 100), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_adds_the_prices),
    cmocka_unit_test(test_sums_nothing),
    cmocka_unit_test(test_takes_a_discount_off),
    cmocka_unit_test(test_takes_all_off),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
