"""Two ways to run trials behind one seam: Ray Tune and the current process."""
