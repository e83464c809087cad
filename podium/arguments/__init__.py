"""What commands are given: studies, trials, KEY=VALUE, places to write."""
