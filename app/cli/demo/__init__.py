"""The demo of ten seconds: a simulated reaction screen and a simulated technician, live on the terminal."""
