"""Atlas within harnesses that exist: `swebench`, `multi_swe_bench` and `inspect_evals` of this package, and `pytest_plugin`."""
