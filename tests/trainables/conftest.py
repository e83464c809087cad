import pytest


@pytest.fixture(scope="session")
def cache_folder(tmp_path_factory):
    """One for all tests, so that each data set is rendered once."""
    return str(tmp_path_factory.mktemp("images"))
