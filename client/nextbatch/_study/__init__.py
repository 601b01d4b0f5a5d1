"""What can be done with a study, one module per part of it; `handle` puts them together."""
