"""HTTP: routes read, call one use case and shape the answer; everything refused becomes a problem document."""
