"""What goes over the wire: strict, finite, nothing unknown."""
