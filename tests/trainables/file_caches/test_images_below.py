import pytest

from podium.trainables.errors import TrialInputError
from podium.trainables.file_caches.image_files import images_below


def made(folder, *names):
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()


def test_images_at_any_depth_come_in_the_order_of_their_paths(tmp_path):
    made(tmp_path, "b.JPG", "a/z.png", "a/b/c.webp", "a.tif")
    found = [path.relative_to(tmp_path).as_posix() for path in images_below(tmp_path)]
    assert found == ["a.tif", "a/b/c.webp", "a/z.png", "b.JPG"]


def test_other_files_hidden_ones_and_folders_are_left_out(tmp_path):
    made(tmp_path, "a.png", "notes.txt", "x.pdf", "x.mpg", "x.eps", ".hidden.png", ".git/b.png")
    (tmp_path / "folder.png").mkdir()
    assert images_below(tmp_path) == (tmp_path / "a.png",)


def test_a_hidden_folder_above_does_not_matter(tmp_path):
    made(tmp_path, ".cache/a.png")
    assert len(images_below(tmp_path / ".cache")) == 1


def test_nothing_to_embed_is_an_error(tmp_path):
    with pytest.raises(TrialInputError, match="there is no image below"):
        images_below(tmp_path)
    with pytest.raises(TrialInputError, match="there is no folder"):
        images_below(tmp_path / "none")
