//! What a patch may do to a test run beside changing the code under test: files that steer the runner, and canary tests that show whether a runner still tells the truth.
