"""The ten-second proof: a simulated reaction screen, a simulated technician, the loop live on the terminal."""
