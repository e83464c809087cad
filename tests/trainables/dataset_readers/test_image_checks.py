import pytest
from PIL import Image

from podium.trainables.dataset_readers import in_shop
from podium.trainables.dataset_readers.folder import read
from podium.trainables.dataset_readers.image_checks import check_images
from tests.trainables.damaged_files import cut_off, emptied, turned_into_text
from tests.trainables.dataset_readers import trees
from tests.trainables.dataset_readers.trees import write_jpeg


@pytest.fixture
def root(tmp_path):
    """Two classes to train on and two to test on, three images each."""
    for shade, name in enumerate("abcd"):
        for number in range(3):
            write_jpeg(tmp_path / name / f"{number}.jpg", shade=40 * shade + 5 * number)
    return tmp_path


def test_whole_images_are_counted_by_role(root):
    (root / "a" / "2.jpg").unlink()
    found = check_images(read(root))
    train, test = found.roles
    assert (train.role, train.classes, train.images) == ("train", 2, 5)
    assert (train.min_per_class, train.median_per_class, train.max_per_class) == (2, 2.5, 3)
    assert (test.role, test.modes, test.smallest_side) == ("test", {"RGB": 6}, 40)
    assert (found.broken, found.tiny, found.duplicates) == ((), (), None)


def test_kinds_of_pixels_are_counted(root):
    write_jpeg(root / "a" / "0.jpg", mode="L")
    write_jpeg(root / "a" / "1.jpg", mode="CMYK")
    write_jpeg(root / "b" / "3.png", mode="RGBA")
    found = check_images(read(root))
    assert found.roles[0].modes == {"RGB": 4, "L": 1, "CMYK": 1, "RGBA": 1}
    assert found.broken == ()


def test_transparent_and_turned_images_are_named(root):
    opaque, clear = (Image.new("RGBA", (40, 40), (9, 9, 9, alpha)) for alpha in (255, 254))
    opaque.save(root / "a" / "opaque.png")
    clear.save(root / "a" / "clear.png")
    clear.quantize(8).save(root / "a" / "palette.png")
    turned = Image.new("RGB", (40, 40))
    exif = turned.getexif()
    exif[0x0112] = 6
    turned.save(root / "b" / "turned.jpg", exif=exif)
    found = check_images(read(root))
    assert [path.name for path in found.see_through] == ["clear.png", "palette.png"]
    assert [path.name for path in found.turned] == ["turned.jpg"]


def scrambled(path):
    Image.new("RGB", (64, 64), (9, 90, 200)).save(path, format="PNG")
    content = bytearray(path.read_bytes())
    content[45:55] = b"x" * 10
    path.write_bytes(content)


@pytest.mark.parametrize("break_it", [cut_off, emptied, turned_into_text, scrambled])
def test_a_broken_image_is_named_with_the_reason(root, break_it):
    path = root / "c" / "1.jpg"
    Image.effect_noise((64, 64), 80).save(path)
    break_it(path)
    ((found, reason),) = check_images(read(root)).broken
    assert found == path
    assert reason


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        (Image.new("F", (40, 40)), "floating-point"),
        (Image.new("I", (40, 40), 70_000), "beyond 16 bits"),
        (Image.new("L", (2001, 2)), "2001 x 2 pixels"),
    ],
)
def test_what_a_trial_cannot_use_is_broken(root, image, reason):
    path = root / "c" / "1.tif"
    image.save(path)
    ((found, told),) = check_images(read(root)).broken
    assert found == path
    assert reason in told
    assert str(path) not in told, "it is beside it"


def test_broken_images_alone_have_no_smallest_side(tmp_path):
    for name in "ab":
        emptied(write_jpeg(tmp_path / name / "0.jpg"))
    found = check_images(read(tmp_path))
    assert [role.smallest_side for role in found.roles] == [None, None]
    assert len(found.broken) == 2


def test_tiny_images_are_named(root):
    path = write_jpeg(root / "d" / "0.jpg", size=(300, 31))
    write_jpeg(root / "d" / "1.jpg", size=(300, 32))
    found = check_images(read(root))
    assert found.tiny == (path,)
    assert found.roles[1].smallest_side == 31


def test_singletons_are_counted(root):
    (root / "c" / "0.jpg").unlink()
    (root / "c" / "1.jpg").unlink()
    assert [role.singletons for role in check_images(read(root)).roles] == [0, 1]


def test_files_of_equal_bytes_are_found_on_request(root):
    copies = [root / "a" / "1.jpg", root / "d" / "2.jpg"]
    copies[1].write_bytes(copies[0].read_bytes())
    assert check_images(read(root), find_duplicates=True).duplicates == (tuple(copies),)
    copies[1].unlink()
    assert check_images(read(root), find_duplicates=True).duplicates == ()


def test_test_images_that_are_trained_on_are_reported_apart_from_other_duplicates(root):
    for one, other in (("a/0.jpg", "b/0.jpg"), ("a/1.jpg", "d/2.jpg"), ("c/1.jpg", "d/1.jpg")):
        (root / other).write_bytes((root / one).read_bytes())
    found = check_images(read(root), find_duplicates=True)
    assert len(found.duplicates) == 3
    assert found.leaks == ((root / "a" / "1.jpg", root / "d" / "2.jpg"),)
    assert check_images(read(root)).leaks is None


def test_classes_asked_for_in_vain_are_named(tmp_path):
    root = trees.write_in_shop(tmp_path)
    (gone,) = root.glob("*/Img/img/MEN/Denim/id_00000007/01_2_side.jpg")
    gone.unlink()
    images = in_shop.read(root, published=trees.IN_SHOP, allow_partial=True)
    assert check_images(images).queries_without_gallery == ("id_00000007",)
