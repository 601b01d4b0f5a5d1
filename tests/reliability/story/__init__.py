"""A study's whole life as random steps, told to servers and to a small model that says what they must answer."""
