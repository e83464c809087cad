"""The results store: schema, writer, reader. Imports none of the other packages."""
