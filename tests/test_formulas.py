"""Formulas of docstrings as TeX: what is drawn means what was written, and what cannot be read stays as it was."""

import importlib
import inspect
import re
from pathlib import Path

import pytest
from public import public_names

from companion import models
from rfcore import attention, couplings, features, gp, graphs, kernels, solvers, theory

EXTENSIONS = Path(__file__).parents[1] / "book" / "_ext"
# Blocks of public names that are no formulas: programs, and prose around a number.
AS_WRITTEN = {
    "attention.dot_product_attention", "couplings.choose", "kernels.power_series_rows", "attention.FeatureAttention", "gp.posterior",
    "theory.bin_survival",
}  # fmt: skip


@pytest.fixture
def formulas(monkeypatch):
    monkeypatch.syspath_prepend(EXTENSIONS)
    return importlib.import_module("formulas")


@pytest.mark.parametrize(
    ("written", "drawn"),
    [
        ("W = D R", "W=D R"),
        ("exp(-|x|^2 / 2)", r"\operatorname{exp}\left(-\frac{\left|x\right|^{2}}{2}\right)"),
        ("x^2/2", r"\frac{x^{2}}{2}"),
        ("(m - 1)/m e^(-z^2)", r"\frac{m-1}{m} e^{-z^{2}}"),
        ("v^2k / (2^k k!)", r"\frac{v^{2k}}{2^{k} k!}"),
        ("a b / c", r"\frac{a b}{c}"),
        ("phi(q) . S / phi(q) . s", r"\phi\left(q\right)\cdot S/\phi\left(q\right)\cdot s"),
        ("log Var / k", r"\operatorname{log}\, \operatorname{Var}\,/k"),
        ("a / b / c", "a/b/c"),
        ("sum_j a_j / sum_j b_j", r"\sum_{j} a_{j}/\sum_{j} b_{j}"),
        ("sum_{p=1}^{i} f(p)", r"\sum_{p=1}^{i} f\left(p\right)"),
        ("omega'_i = omega_i'", r"\omega'_{i}=\omega_{i}'"),
        ("p_halt, n_walks", r"p_{\mathrm{halt}}, n_{\mathrm{walks}}"),
        ("c 1 1^T", r"c \mathbf{1} \mathbf{1}^{\top}"),
        ("P(length >= k | bin q)", r"P\left(\text{length }\ge k\mid \text{ bin }q\right)"),
        ("E[phi_1 phi_2^T]", r"\mathbb{E}\left[\phi_{1} \phi_{2}^{\top}\right]"),
        ("KL(E | A)", r"\mathrm{KL}\left(E\mid A\right)"),
        ("0F1(; d/2; x)", r"{}_0F_1\left(; d/2; x\right)"),
    ],
)
def test_what_is_drawn_is_what_was_written(formulas, written, drawn):
    tex = formulas.typeset([f"    {written}"])
    assert " ".join(tex.split()) == rf"\begin{{array}}{{l}} \displaystyle {drawn} \end{{array}}"


@pytest.mark.parametrize(
    "written",
    [
        "phi @ v", "attention = equinox.nn.MultiheadAttention(size, key=key)", 'names = ["karate", "dolphins/2"]', "omega[:m]", "k^(x, y)^2",
        "[0, 2 pi)", "<G_ab, K> / |K|^2", "# a comment",
    ],
)  # fmt: skip
def test_what_is_no_formula_stays_as_it_was_written(formulas, written):
    assert formulas.typeset([written]) is None
    lines = ["Does this::", "", f"    {written}", "", "And more."]
    formulas.formulas(None, "function", "f", None, None, kept := list(lines))
    assert [line.rstrip() for line in kept if line.strip()] == [line for line in lines if line.strip()]


def test_a_block_becomes_a_directive_and_its_sentence_ends_in_one_colon(formulas):
    lines = ["Args:", "    x: as in::", "", "        y = x^2", "", "    z: another.", "", "Then ::", "", "    W = D", ""]
    formulas.formulas(None, "function", "f", None, None, lines)
    text = "\n".join(lines)
    assert "    x: as in:\n\n    .. math::\n" in text and "\nThen\n\n.. math::" in text and "    z: another." in text
    assert text.count(r"\begin{array}") == 2 and "::\n\n        y" not in text


def test_columns_of_cases_stand_below_each_other(formulas):
    tex = formulas.typeset(["phi(x) = exp(x)   softmax", "phi(x) = cos(x)   gaussian"])
    assert tex.startswith(r"\begin{array}{ll}") and tex.count("&") == 2 and tex.count(r"\\[") == 1


PUBLIC = public_names(attention, couplings, features, gp, graphs, kernels, models, solvers, theory)


def test_formulas_of_public_names_are_typeset(formulas):
    """All but a few, which are listed: a formula that nobody can read is rather written otherwise."""
    as_written, typeset = set(), 0
    for name, thing in PUBLIC.items():
        lines = (inspect.getdoc(thing) or "").split("\n")
        blocks = sum(line.endswith("::") for line in lines)
        formulas.formulas(None, "function", name, thing, None, lines)
        typeset += (drawn := sum(line.lstrip().startswith(".. math::") for line in lines))
        if drawn < blocks:
            as_written.add(name)
    assert typeset > 100
    assert as_written == AS_WRITTEN


def test_brackets_of_what_is_drawn_close(formulas):
    for thing in PUBLIC.values():
        lines = (inspect.getdoc(thing) or "").split("\n")
        formulas.formulas(None, "function", "", thing, None, lines)
        for tex in (line for line in lines if r"\begin{array}" in line):
            assert len(re.findall(r"\\left\b", tex)) == len(re.findall(r"\\right\b", tex))
            assert tex.count("{") - tex.count(r"\{") == tex.count("}") - tex.count(r"\}")
