"""One module a command; podium.cli lists them."""
