import pytest

from analysis.typed_tables.latex_tables import is_latex, latex_rows
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
    assert latex_rows(TABLE, source="t.tex") == [
        (5, ["Method", "CUB & more", "CUB & more"]),
        (6, ["Method", "R@1", "R@2"]),
        (8, ["A", "63.6%", "73"]),
        (9, ["B C", "-", "75"]),
    ]


def test_rows_alone_are_a_table():
    text = "A & 1 \\\\ \\hline\nB & 2"
    assert is_latex(text)
    assert latex_rows(text, source="t.txt") == [(1, ["A", "1"]), (2, ["B", "2"])]


def test_prose_with_an_ampersand_is_none():
    assert not is_latex("loss,recall\nA & B,1\n")


def test_a_name_that_spans_rows_is_repeated_below():
    text = "Net & Loss & R@1 \\\\ \\multirow{2}{*}{R50} & a & 1 \\\\ & b & 2 \\\\ & c & 3 \\\\"
    names = [cells[0] for _, cells in latex_rows(text, source="t.tex")]
    assert names == ["Net", "R50", "R50", ""]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TABLE + TABLE, r"t\.tex has tabulars in lines 3, 15"),
        (TABLE.replace(r"\end{tabular}", ""), r"begins in line 3 has no \\end\{tabular\}"),
    ],
)
def test_a_file_holds_one_whole_table(text, message):
    with pytest.raises(PodiumError, match=message):
        latex_rows(text, source="t.tex")
