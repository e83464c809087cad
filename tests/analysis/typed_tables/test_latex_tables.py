import pytest

from podium.analysis.typed_tables.latex_tables import latex_rows
from podium.errors import PodiumError

TABLE = r"""
\begin{table}
\begin{tabular}[t]{@{}l|*{2}{c}@{}}
\toprule % 50 % of it
\multirow{2}{*}{Method} & \multicolumn{2}{c}{CUB \& more} \\ \cmidrule(lr){2-3}
 & R@1 & R@2 \\[2pt]
\midrule
A~\cite{a,b} & 63.6\% & \textbf{73} \\
\rowcolor{gray!10} \makecell{B \\ C} & - & 75 \\
\bottomrule
\end{tabular}
\end{table}
"""


def test_spans_are_written_out_and_rules_left_out():
    assert list(latex_rows(TABLE, source="t.tex")) == [
        ["Method", "CUB & more", "CUB & more"],
        ["Method", "R@1", "R@2"],
        ["A", "63.6%", "73"],
        ["B C", "-", "75"],
    ]


def test_a_name_that_spans_rows_is_repeated_below():
    rows = "Net & Loss & R@1 \\\\ \\multirow{2}{*}{R50} & a & 1 \\\\ & b & 2 \\\\ & c & 3 \\\\"
    text = rf"\begin{{tabular}}{{llr}}{rows}\end{{tabular}}"
    names = [cells[0] for cells in latex_rows(text, source="t.tex")]
    assert names == ["Net", "R50", "R50", ""]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TABLE + TABLE, r"one whole tabular; t\.tex begins 2 and ends 2"),
        (TABLE.replace(r"\end{tabular}", ""), r"one whole tabular; t\.tex begins 1 and ends 0"),
    ],
)
def test_a_file_holds_one_whole_table(text, message):
    with pytest.raises(PodiumError, match=message):
        list(latex_rows(text, source="t.tex"))
