from search_spaces.catalogue import loss_names


def test_losses_are_found_by_their_file_names():
    assert {"contrastive", "multi_similarity", "proxy_anchor"} <= set(loss_names())
    assert list(loss_names()) == sorted(loss_names())
