"""The findings of an audit without their messages, for tests."""


def ordered_findings(audit):
    """Kind and place of each finding, in the audit's order."""
    return [(found.kind, found.where) for found in audit.findings]


def distinct_findings(audit):
    """The kinds and places of all findings, once each."""
    return set(ordered_findings(audit))
