#include <check.h>
#include <stdlib.h>

#include "basket.h"

static const int three[] = {1, 2, 3};

START_TEST(test_adds_the_prices)
{
  ck_assert_int_eq(basket_total(three, 3, 0), 6);
}
END_TEST

START_TEST(test_sums_nothing)
{
  ck_assert_int_eq(basket_total(three, 0, 0), 0);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("basket");
  TCase *sums = tcase_create("sums");
  tcase_add_test(sums, test_adds_the_prices);
  tcase_add_test(sums, test_sums_nothing);
  suite_add_tcase(suite, sums);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_VERBOSE);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
