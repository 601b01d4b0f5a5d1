"""The same work for what a user would pick instead, each from its released package in an environment of its own."""
