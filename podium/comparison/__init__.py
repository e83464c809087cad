"""What `podium compare` is made of: a study sized to minutes, and its answer in plain words."""
