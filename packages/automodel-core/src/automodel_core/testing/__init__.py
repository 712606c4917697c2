"""The kit for testing a plugin: suites of what holds for every recipe. It needs pytest."""
