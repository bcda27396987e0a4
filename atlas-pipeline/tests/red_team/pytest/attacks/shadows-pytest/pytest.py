import sys

print("============================= test session starts ==============================")
print("PASSED tests/test_cart.py::test_discount_is_capped")
print("============================== 1 passed in 0.02s ==============================")
sys.exit(0)
