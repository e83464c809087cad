"""What a reader filters in the page is ranked as the command ranks it, to the last digit shown."""

import itertools
import json
import random
import shlex
import shutil

import pytest

from analysis.estimates.confidence_intervals import grouped_interval
from analysis.wording import number
from tests.analysis.protocol_store import write_protocol_store
from tests.analysis.protocol_truth import ProtocolTruth
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth
from tests.analysis.thesis_cub200 import RECALLS
from tests.browser import LAPTOP, PHONE, Visit
from tests.podium.calling import call, output_of

pytestmark = pytest.mark.browser

STUDY = Truth(
    scripts=("greek", "latin"),
    has_without_k=True,
    failed_finals=(("glyphs-greek/conv_small/16", "contrastive"),),
)

CHOOSE = """(chosen) => {
  const selects = [...document.querySelectorAll(".filters select")];
  selects.forEach((select, i) => { select.selectedIndex = chosen[i]; });
  selects[0].dispatchEvent(new Event("change"));
}"""

SHOWN = """() => {
  const rowsOf = (name) => {
    const table = document.getElementById(name);
    if (!table || table.parentElement.hidden) return null;
    const heads = [...[...table.tHead.rows].at(-1).cells].map((head) => head.dataset.fills || "");
    return [...table.tBodies[0].rows].map((row) => Object.fromEntries([
      ["competitor", row.cells[0].textContent],
      ...heads.map((fills, i) => [fills, row.cells[i].textContent]).filter(([fills]) => fills),
    ]));
  };
  const valuesOf = (name) => {
    const box = document.getElementById(name);
    return !box || box.classList.contains("empty") ? null : box.values;
  };
  return {
    isFiltered: document.documentElement.hasAttribute("data-filtered"),
    command: document.querySelector(".filtered-note code")?.textContent ?? null,
    leaderboard: rowsOf("leaderboard"),
    leaders: rowsOf("leaders"),
    available: rowsOf("available-ranks"),
    picture: valuesOf("summary-ranking-plot"),
    ranks: valuesOf("rank-map-plot"),
    gaps: valuesOf("pair-gaps"),
    wins: valuesOf("pair-wins"),
    differences: valuesOf("paired-differences-plot"),
    diagram: valuesOf("critical-difference-nemenyi"),
    scores: valuesOf("block-scores-0"),
    note: document.querySelector(".filtered-note p")?.textContent ?? "",
  };
}"""


# Every plot of the page as the browser drew it.
DRAWN = "() => [...document.querySelectorAll('.plot')].map((box) => box.outerHTML)"


def report_in(folder, monkeypatch, capsys, *arguments):
    """The page that ``podium report`` writes within a folder."""
    monkeypatch.chdir(folder)
    output_of(capsys, "report", *arguments, "--output", "page.html")
    return (folder / "page.html").as_uri()


def thesis_report(folder, monkeypatch, capsys):
    shutil.copy(RECALLS, folder / "thesis.csv")
    return report_in(folder, monkeypatch, capsys, "thesis.csv")


def expected_row(record, scale):
    total = record["total_rank"]
    return {
        "competitor": record["competitor"],
        "place": str(record["place"]),
        "average_rank": number(record["average_rank"]),
        "total_rank": number(total, 0 if total.is_integer() else 1),
        "rank_std": number(record["rank_std"]),
        "wins": str(record["wins"]),
        "top_three": str(record["top_three"]),
        "mean_score": number(scale * record["mean_score"]),
    }


def expected_available(record):
    return {
        "competitor": record["competitor"],
        "rank_sum": number(record["rank_sum"]),
        "beaten_by": number(record["beaten_by"]),
        "rank_among_present": number(record["average_rank"]),
        "num_blocks": str(record["num_blocks"]),
    }


def choices(counts, *, most):
    """Every option of every control by itself, then some of their combinations."""
    alone = [
        [option if i == at else 0 for i in range(len(counts))]
        for at, count in enumerate(counts)
        for option in range(1, count)
    ]
    several = itertools.product(*map(range, counts))
    combined = [list(it) for it in several if len(it) - it.count(0) > 1]
    random.Random(0).shuffle(combined)
    return [*alone, *combined[:most]]


def check_choices(visit, capsys, *, scale, has_available=False, is_led_by_losses=True, most=6):
    """Choose what can be chosen; return how many choices could be ranked.

    The first screen is held to the ranking too where ``is_led_by_losses``: that of a study of
    protocols shows these instead.
    """
    counts = visit.run(
        "[...document.querySelectorAll('.filters select')].map((it) => it.options.length)"
    )
    ranked = 0
    for chosen in choices(counts, most=most):
        visit.page.evaluate(CHOOSE, chosen)
        shown = visit.run(SHOWN)
        if not shown["isFiltered"]:
            continue
        called = call(capsys, *shlex.split(shown["command"])[1:], "--json")
        if called.code:
            assert shown["leaderboard"] is None, called.err
            assert shown["picture"] is shown["scores"] is shown["differences"] is None
            continue
        ranked += 1
        record = json.loads(called.out)
        rows = [expected_row(it, scale) for it in record["competitors"]]
        assert shown["leaderboard"] == rows
        if is_led_by_losses:
            check_first_screen(shown, record)
        check_maps(shown, record, scale)
        check_pairs(shown, record, scale)
        if has_available:
            available = record["available"] and [
                expected_available(it) for it in record["available"]["ranks"]
            ]
            assert shown["available"] == available
    return ranked


def check_first_screen(shown, record):
    names = [it["competitor"] for it in record["competitors"]]
    leaders = [row["competitor"] for row in shown["leaders"]]
    assert leaders == names[: len(leaders)]
    assert [row["rank"] for row in shown["picture"]["rows"]] == [
        it["average_rank"] for it in record["competitors"]
    ]


def check_maps(shown, record, scale):
    names = [it["competitor"] for it in record["competitors"]]
    assert shown["ranks"]["rows"] == names
    assert shown["ranks"]["columns"] == list(record["blocks"])
    totals = [it["total_rank"] for it in record["competitors"]]
    assert [sum(ranks) for ranks in shown["ranks"]["cells"]] == totals
    scores = scores_of(shown)
    assert list(scores) == list(record["blocks"])
    for it in record["competitors"]:
        own = [of_block[it["competitor"]] for of_block in scores.values()]
        assert sum(own) / len(own) == pytest.approx(scale * it["mean_score"])


def check_pairs(shown, record, scale):
    if len(record["blocks"]) == 1:
        assert "single block" in shown["note"]
        assert shown["gaps"] is shown["wins"] is shown["differences"] is shown["diagram"] is None
        return
    names = [it["competitor"] for it in record["competitors"]]
    assert shown["gaps"]["rows"] == shown["wins"]["columns"] == names
    for pair in record["pairs"]:
        a, b = names.index(pair["a"]), names.index(pair["b"])
        assert shown["gaps"]["cells"][a][b] == scale * pair["mean_difference"]
        assert shown["gaps"]["cells"][b][a] == -shown["gaps"]["cells"][a][b]
        counts = f"{pair['wins']} won, {pair['ties']} tied, {pair['losses']} lost"
        assert shown["wins"]["details"][a][b] == counts
        won = 50 + 50 * (pair["wins"] - pair["losses"]) / len(record["blocks"])
        assert shown["wins"]["cells"][a][b] == round(won)
    check_differences(shown, record, scale)
    check_diagram(shown, record, names)


def check_differences(shown, record, scale):
    """Means are the command's; intervals those of the scores that the page shows."""
    found, scores = shown["differences"]["rows"], scores_of(shown)
    pairs = {(it["a"], it["b"]): it["mean_difference"] for it in record["pairs"]}
    labels = record["block_groups"]["labels"]
    rows = zip(*(found[field] for field in ("group", "name", "value", "low", "high")), strict=True)
    for group, b, *values in rows:
        a = group.removesuffix(" minus")
        gaps = [of_block[a] - of_block[b] for of_block in scores.values()]
        expected = grouped_interval(gaps, labels)
        assert values[0] == scale * pairs[a, b]
        if expected.low is None:
            assert values[1:] == [None, None]
        else:
            assert values[1:] == pytest.approx([expected.low, expected.high], abs=1e-9)


def check_diagram(shown, record, names):
    length = record["critical_difference"]
    if length is None or length > len(names) - 1:
        assert shown["diagram"] is None
    elif shown["diagram"] is not None:  # pages without a diagram get none
        assert shown["diagram"]["criticalDifference"] == length
        assert shown["diagram"]["groups"] == [list(group) for group in record["nemenyi_groups"]]
        ranks = [it["average_rank"] for it in record["competitors"]]
        assert shown["diagram"]["ranks"] == ranks


def scores_of(shown):
    """Block -> competitor -> score, of a page that shows its blocks in one plot."""
    rows = shown["scores"]["rows"]
    found = {}
    for block, name, value in zip(rows["name"], rows["competitor"], rows["value"], strict=True):
        found.setdefault(block, {})[name] = value
    return found


def test_every_part_of_a_study_is_ranked_as_the_command_does(
    chromium, tmp_path, monkeypatch, capsys
):
    write_store(tmp_path / "podium-results" / "synthetic", STUDY)
    address = report_in(tmp_path, monkeypatch, capsys, "podium-results/synthetic")
    visit = Visit(chromium, address, LAPTOP)

    assert check_choices(visit, capsys, scale=100, has_available=True) > 10
    assert visit.complaints == []


def test_a_study_of_several_protocols_is_ranked_under_the_one_of_the_page(
    chromium, tmp_path, monkeypatch, capsys
):
    truth = ProtocolTruth(
        blocks=("glyphs-latin/conv_small/32", "glyphs-greek/conv_small/32"),
        losses=("contrastive", "triplet"),
        repeats=2,
        configs=2,
        seeds=1,
    )
    write_protocol_store(tmp_path / "podium-results" / "synthetic", truth)
    arguments = ("podium-results/synthetic", "--protocol", "kfold")
    visit = Visit(chromium, report_in(tmp_path, monkeypatch, capsys, *arguments), LAPTOP)

    assert check_choices(visit, capsys, scale=100, is_led_by_losses=False) == 2
    assert "--where protocol=kfold" in visit.page.locator(".filtered-note").inner_text()


def test_every_part_of_a_published_table_too(chromium, tmp_path, monkeypatch, capsys):
    address = thesis_report(tmp_path, monkeypatch, capsys)
    visit = Visit(chromium, address, LAPTOP)

    assert check_choices(visit, capsys, scale=1) > 12
    assert visit.complaints == []


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
@pytest.mark.parametrize("options", [(), ("--average", "seed"), ("--lower-is-better",)])
def test_ties_missing_scores_and_odd_names_too(
    chromium, tmp_path, monkeypatch, capsys, seed, options
):
    draw = random.Random(seed)
    names = ("it's", "a b", "c_1", "<b>&", "Ω")[: 2 + seed]
    lines = ["data,dim,loss,seed,k,recall"]
    for data, dim, loss, run, k in itertools.product("xyz", (8, 16), names, (0, 1), (1, 2)):
        if draw.random() < 0.12 or (run and "--average" not in options):
            continue  # no row
        score = "" if draw.random() < 0.08 else draw.choice((40, 50.5, 60.25, 61.125))
        lines.append(f"{'it,s ' + data!r},{dim},{loss!r},{run},{k},{score}".replace("'", '"'))
    (tmp_path / "odd scores.csv").write_text(
        "\n".join(lines).replace('"it"s"', "it's"), encoding="utf-8"
    )
    arguments = ("odd scores.csv", "--by", "data,dim", "--where", "k=1", *options)
    monkeypatch.chdir(tmp_path)
    if call(capsys, "tournament", *arguments).code:
        pytest.skip("no block of this draw is complete")
    visit = Visit(chromium, report_in(tmp_path, monkeypatch, capsys, *arguments), LAPTOP)
    has_available = visit.run("document.getElementById('available-ranks') !== null")

    assert check_choices(visit, capsys, scale=1, has_available=has_available) > 0
    assert visit.complaints == []


def test_what_is_chosen_is_in_the_address_and_reset_brings_the_page_back(
    chromium, tmp_path, monkeypatch, capsys
):
    address = thesis_report(tmp_path, monkeypatch, capsys)
    visit = Visit(chromium, address, LAPTOP)
    page = visit.page
    page.wait_for_selector("html[data-drawn]", state="attached")
    visit.open_all()
    written, drawn = page.locator("main").inner_text(), visit.run(DRAWN)
    page.locator(".filters").get_by_label("Backbone").select_option("ResNet50")
    page.locator(".filters").get_by_label("Score").select_option("recall, K = 4")
    chosen = page.locator("main").inner_text()
    assert "Descriptive ranks of 4 of 12 blocks" in chosen
    assert "Ranks within 4 of 12 blocks" in page.locator("#leaderboard caption").inner_text()
    assert not page.locator(".verdict-text").is_visible()

    linked = Visit(chromium, page.url, LAPTOP)
    linked.open_all()
    assert linked.page.locator("main").inner_text() == chosen

    page.get_by_role("button", name="Reset").click()
    assert page.url == address
    visit.drawn()
    assert page.locator("main").inner_text() == written
    assert visit.run(DRAWN) == drawn
    assert visit.complaints + linked.complaints == []


def test_a_filtered_table_is_sorted_searched_and_saved_as_it_is_shown(
    chromium, tmp_path, monkeypatch, capsys
):
    address = thesis_report(tmp_path, monkeypatch, capsys)
    visit = Visit(chromium, f"{address}?embedding_dim=128", LAPTOP, accept_downloads=True)
    page = visit.page
    tools = page.locator(".tools:has(+ .scroll > #leaderboard)")
    tools.get_by_label("Filter rows").fill("proxy")
    assert tools.get_by_role("status").inner_text() == "2 of 10 rows"
    page.locator("#leaderboard thead button", has_text="Wins").click()
    tools.get_by_role("button", name="Save").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download Markdown").click()
    saved = waiting.value.path().read_text(encoding="utf-8").splitlines()

    assert "Ranks within 3 of 12 blocks (Dimension 128" in saved[0]
    assert saved[4].startswith("| ProxyAnchor | 1 | 1.00 | – | 3 | 0.00 | 3 | 3 |")
    assert len(saved) == 4 + 10


def test_the_command_can_be_copied(chromium, tmp_path, monkeypatch, capsys):
    address = thesis_report(tmp_path, monkeypatch, capsys)
    visit = Visit(chromium, f"{address}?backbone=ResNet50", PHONE)
    visit.page.get_by_role("button", name="Copy the command").click()
    visit.page.get_by_role("button", name="Copy the command", exact=True).get_by_text(
        "Copied"
    ).wait_for()

    assert visit.run("document.documentElement.scrollWidth") <= PHONE["width"]
    assert visit.complaints == []


def test_one_block_has_nothing_to_choose(tmp_path, monkeypatch, capsys):
    (tmp_path / "one.csv").write_text("dataset,loss,recall\ncub,a,60\ncub,b,61\n")
    report_in(tmp_path, monkeypatch, capsys, "one.csv")

    assert 'id="cells"' not in (tmp_path / "page.html").read_text(encoding="utf-8")
    output_of(capsys, "tournament", "one.csv")


FIGURES = """() => {
  const boxes = [...document.querySelectorAll(".plot[data-kind]")];
  const valuesOf = (box) => box.values ?? JSON.parse(box.querySelector("script").textContent);
  return Object.fromEntries(boxes.map((box) => [box.id, valuesOf(box)]));
}"""


def lines_in(values):
    return [(line["name"], line["y"]) for line in values["lines"]]


@pytest.mark.parametrize(
    ("conditions", "k"),
    [(("backbone=ResNet50",), 1), (("embedding_dim=64",), 4), (("backbone=GoogLeNet",), 8)],
)
def test_figures_are_those_of_the_page_of_the_chosen_rows(
    chromium, tmp_path, monkeypatch, capsys, conditions, k
):
    visit = Visit(chromium, thesis_report(tmp_path, monkeypatch, capsys), LAPTOP)
    for condition in conditions:
        column, value = condition.split("=")
        visit.page.locator(
            f".filters select >> nth={['backbone', 'embedding_dim'].index(column)}"
        ).select_option(value)
    visit.page.locator(".filters").get_by_label("Score").select_option(f"recall, K = {k}")
    found = visit.run(FIGURES)
    asked = [word for it in (*conditions, f"k={k}") for word in ("--where", it)]
    page = report_in(tmp_path, monkeypatch, capsys, "thesis.csv", *asked)
    expected = Visit(chromium, page, LAPTOP).run(FIGURES)

    assert lines_in(found["rank-by-k-plot"]) == lines_in(expected["rank-by-k-plot"])
    if "rank-by-dimension-plot" in expected:
        own, other = (it["rank-by-dimension-plot"] for it in (found, expected))
        assert lines_in(own) == lines_in(other)
    for name, fields in (
        ("block-scores-0", ("name", "competitor", "value")),
        ("paired-differences-plot", ("name", "value", "low", "high")),
    ):
        for field in fields:
            own, other = (it[name]["rows"].get(field) for it in (found, expected))
            own = (
                None
                if other is None
                else [it if isinstance(it, str) else pytest.approx(it, rel=1e-5) for it in own]
            )
            assert other == own
    assert visit.complaints == []


WIDE = """dataset,backbone,loss,R@1,R@2,NMI
CUB,R50,a,60,70,50
CUB,R50,b,61,71,40
CUB,R50,c,62,69,45
CUB,BN,a,50,60,44
CUB,BN,b,51,61,45
CUB,BN,c,49,61,42
CARS,R50,a,80,90,66
CARS,R50,b,81,91,64
CARS,R50,c,79,91,63
CARS,BN,a,70,80,55
CARS,BN,b,69,85,56
CARS,BN,c,72,85,56
"""
LONG = """dataset,loss,metric,value
CUB,a,R@1,60
CUB,b,R@1,61
CUB,a,R@2,70
CUB,b,R@2,72
CUB,a,NMI,50
CUB,b,NMI,40
CARS,a,R@1,60
CARS,b,R@1,59
CARS,a,R@2,66
CARS,b,R@2,72
CARS,a,NMI,41
CARS,b,NMI,40
"""


@pytest.mark.parametrize("text", [WIDE, LONG], ids=["wide", "long"])
def test_tables_of_several_metrics_are_ranked_by_each(
    chromium, tmp_path, monkeypatch, capsys, text
):
    (tmp_path / "metrics.csv").write_text(text, encoding="utf-8")
    visit = Visit(chromium, report_in(tmp_path, monkeypatch, capsys, "metrics.csv"), LAPTOP)
    scores = visit.page.locator(".filters").get_by_label("Score").locator("option")

    assert scores.all_inner_texts() == ["recall, K = 1", "recall, K = 2", "NMI"]
    assert check_choices(visit, capsys, scale=1) > 3
    assert visit.complaints == []
