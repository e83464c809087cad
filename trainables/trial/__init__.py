"""One trial from its settings to its reports, fold by fold, and how it resumes after a stop."""
