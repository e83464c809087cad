import pytest

from podium.trainables.dataset_readers import in_shop
from podium.trainables.errors import TrialInputError
from tests.trainables.dataset_readers import trees


def read(root, **options):
    return in_shop.read(root, **{"published": trees.IN_SHOP, **options})


def test_clothes_are_queries_and_the_gallery_they_search(tmp_path):
    images = read(trees.write_in_shop(tmp_path))
    pairs = zip(images.labels, images.roles, strict=True)
    assert sorted({(images.class_names[label], role) for label, role in pairs}) == [
        ("id_00000001", "gallery"),
        ("id_00000001", "query"),
        ("id_00000002", "train"),
        ("id_00000007", "gallery"),
        ("id_00000007", "query"),
        ("id_00000080", "train"),
    ]


@pytest.mark.parametrize("folder", ["img", "Img/img_highres"])
def test_clothes_may_lie_elsewhere(folder, tmp_path):
    images = read(trees.write_in_shop(tmp_path, images=folder))
    assert all(f"/{folder}/" in str(path) for path in images.paths)


def test_the_small_images_of_clothes_come_first(tmp_path):
    trees.write_in_shop(tmp_path, images="Img/img_highres")
    images = read(trees.write_in_shop(tmp_path))
    assert all("/Img/img/" in str(path) for path in images.paths)


def test_a_list_of_clothes_that_was_cut_off_is_refused(tmp_path):
    root = trees.write_in_shop(tmp_path)
    (file,) = root.glob("*/Eval/list_eval_partition.txt")
    file.write_text("\n".join(file.read_text().splitlines()[:-1]))
    with pytest.raises(TrialInputError, match="says that it has 8 images; it has 7"):
        read(root)


def test_an_item_that_is_asked_for_must_be_in_the_gallery(tmp_path):
    root = trees.write_in_shop(tmp_path)
    (file,) = root.glob("*/Eval/list_eval_partition.txt")
    text = file.read_text()
    assert "id_00000007 query" in text
    file.write_text(text.replace("id_00000007 query", "id_00000001 query"))
    counts = {**trees.IN_SHOP, "query": trees.IN_SHOP["query"]._replace(classes=1)}
    message = "must be a query and in the gallery; violated by 1, such as id_00000007"
    with pytest.raises(TrialInputError, match=message):
        read(root, published=counts)
    assert len(read(root, allow_partial=True).paths) == 8
