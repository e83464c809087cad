import pytest


@pytest.fixture
def messages():
    """What a lock says, in order."""
    return []
