"""Two ways to run trials behind one interface: Ray Tune and the current process."""
