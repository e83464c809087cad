"""What a report says of backbones and losses that are crossed."""

from podium.analysis.report.backbone_or_loss import backbone_or_loss
from podium.analysis.study_results.study_results import read_results
from tests.analysis.page_text import page_of, rows_of, section_of, text_of
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth


def as_backbones(row):
    """What were two data sets are two backbones on one."""
    return {**row, "dataset": "glyphs", "backbone": f"on {row['dataset']}"}


def test_a_study_of_two_backbones_says_how_much_each_choice_moves(tmp_path):
    truth = Truth(seeds=4)
    folder = write_store(tmp_path / truth.study_file.name, truth, change=as_backbones)
    page = page_of(read_results(folder), backbone_or_loss)
    said = text_of(section_of(page, "backbone-or-loss"))
    assert "the backbone is" in said
    shares = [float(row[2]) for row in rows_of(page, "backbone-or-loss-table")]
    assert abs(sum(shares) - 100) < 0.3


def test_a_study_of_one_backbone_has_no_such_section(tmp_path):
    truth = Truth()
    results = read_results(write_store(tmp_path / truth.study_file.name, truth))
    assert backbone_or_loss(results, {}) is None
