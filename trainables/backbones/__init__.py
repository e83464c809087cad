"""Networks that turn images into features; one module each."""
