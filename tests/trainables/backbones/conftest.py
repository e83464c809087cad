import pytest
from torchvision.models import vision_transformer


@pytest.fixture(scope="module", autouse=True)
def _few_layers():
    """Two of the twelve equal layers of a vision transformer; all of them take 350 MB a copy."""
    published = vision_transformer._vision_transformer

    def shallow(**options):
        return published(**{**options, "num_layers": 2})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vision_transformer, "_vision_transformer", shallow)
        yield
