"""Lets a loss that keeps a class in each column train our rows."""


def sharing_columns(theirs, name, proxies):
    """``theirs`` as a function, with ours in place of its parameter called ``name``.

    Args:
        theirs: a loss.
        name: of its parameter of shape (D, P).
        proxies: our parameter of shape (P, D), or (K, C, D), which it counts through class by
            class.
    """
    delattr(theirs, name)  # else only another parameter could take its place

    def compute(x_BD, labels_B):
        rows = proxies if proxies.ndim == 2 else proxies.transpose(0, 1).flatten(0, 1)
        setattr(theirs, name, rows.T)
        return theirs(x_BD, labels_B)

    return compute
