"""Orders in which a training epoch visits its images, one module each."""
