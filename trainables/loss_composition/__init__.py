"""What losses and miners are made of, and what composes several losses into one."""
