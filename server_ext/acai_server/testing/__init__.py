"""Contract suites: what every backend of a protocol owes, as test classes. Whoever writes a backend derives from one.

Only this package imports pytest. Call `pytest.register_assert_rewrite("acai_server.testing")` before importing from it.
"""
