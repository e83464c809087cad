"""A study's results with some views replaced by others."""

from copy import copy


def with_views(results, **views):
    """A copy in which these views are as given; others are computed from them or kept."""
    changed = copy(results)
    vars(changed).update(views)
    return changed
