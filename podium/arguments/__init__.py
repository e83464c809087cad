"""Arguments that commands share: studies, trials, KEY=VALUE, files and folders to write."""
