r"""The grammar of formulas that are written for a terminal, as docstrings have them, and the TeX of what parses by it.

A line is a sequence of factors and operators; a factor is a number, a name, a call or something in brackets, with subscripts and
exponents. A quotient is drawn as a fraction only where nothing can be read in two ways: of the factors before ``/`` and the one after
it, beside no scalar product. Words of English stay words. What does not parse, programs above all, is :class:`Unread`.
"""

import re

GREEK = set(re.findall(r"\w+", """
    alpha beta gamma delta epsilon kappa theta lambda mu nu pi rho sigma phi psi omega chi tau
    Phi Psi Gamma Sigma Omega Lambda Delta Theta"""))  # fmt: skip
BIG = {"sum": r"\sum", "prod": r"\prod", "argmin": r"\operatorname*{argmin}", "max": r"\max", "min": r"\min", "sup": r"\sup",
       "integral": r"\int", "int": r"\int"}  # fmt: skip
FUNCTIONS = set(re.findall(r"\w+", """
    exp log cos sin cosh sinh tanh det log1p sign diag tr trace floor round softplus relu Var Cov binomial vec argmax softmax vdc
    label"""))  # fmt: skip
SPOKEN = {"mod": r"\bmod ", "XOR": r"\oplus "}
OPERATORS = {
    "...": r"\dots ", "!=": r"\ne ", "<=": r"\le ", ">=": r"\ge ", "<-": r"\gets ", "->": r"\to ", "+-": r"\pm ", "-+": r"\mp ",
    "(x)": r"\otimes ", "×": r"\times ", "=": "=", "<": "<", ">": ">", "+": "+", "-": "-", "*": "*", "~": r"\sim ", ",": ",", ";": ";", ":": ":",
}  # fmt: skip
OPEN, CLOSE = {"(": r"\left(", "[": r"\left[", "{": r"\left\{"}, {"(": ")", "[": "]", "{": "}"}
NAME = re.compile(r"[A-Za-z]+\d*|\dF\d")
WORDS = re.compile(r"(?:[A-Za-z][a-z]+(?:-[a-z]+)*(?:'s)?)(?![\w(\[^']|\.[a-z])")


class Unread(Exception):
    """What is not a formula by this grammar."""


class Line:
    """A line of a block, read from left to right."""

    def __init__(self, text):
        self.text, self.at = re.sub(r"\b([a-z]) x (?=\1\b)|(?<=\)) x (?=\()", lambda found: f"{found[1] or ''} × ", text), 0

    def peek(self, pattern):
        """The match of a pattern here."""
        return re.compile(pattern).match(self.text, self.at)

    def take(self, pattern):
        """The match of a pattern here, and go on behind it."""
        if found := self.peek(pattern):
            self.at = found.end()
        return found

    def whole(self, plain=False):
        """The TeX of all of it."""
        tex = self.sequence("", plain)
        if self.at < len(self.text):
            raise Unread(self.text[self.at :])
        return tex.strip()

    def sequence(self, end, plain=False):
        """Factors and operators up to ``end``; ``plain`` draws no fractions."""
        parts = []  # pairs of a kind ("factor", "big", "text", "/", ".", "op", "gap") and its TeX
        while self.at < len(self.text) and not (end and self.text.startswith(end, self.at) and self.closes(end)):
            if self.take(r" \. |(?<=\b[a-z])\.(?=[a-z]\b)"):
                parts.append((".", r"\cdot "))
            elif self.take(" +"):
                continue
            elif end != "|" and self.at and self.take(r"\| "):
                parts.append(("op", r"\mid "))
            elif self.take("/ ?"):
                parts.append(("/", "/"))
            elif (found := self.take("|".join(map(re.escape, OPERATORS)))) is not None:
                if found[0] == "<" and self.peek("[A-Z]"):
                    raise Unread("<")
                if found[0] == ":" and self.at < len(self.text) and self.text[self.at] != " ":
                    raise Unread(":")
                parts.append(("op", OPERATORS[found[0]] + (" " if found[0] in ",;:" else "")))
            else:
                parts.append(self.item(plain))
        return fractions(parts, plain or bool(end))

    def closes(self, end):
        """Whether a bar closes: before it stands what it may follow."""
        return end != "|" or self.text[self.at - 1] != " " or not self.text.startswith("| ", self.at)

    def item(self, plain):
        """A factor or a run of words, with its kind."""
        if place := self.take(r"\(Eqs?\. [\d, ]+\)|Eqs?\. \d+:|[A-Z][a-z]+'(?= [a-z])|[a-z]'s\b|[a-z]?-[a-z]{3,}\b|-th\b"):  # Sobol' points, y's, c-monotone
            return "text", rf"\text{{{' ' * (place[0][0] == '(')}{place[0]}{' ' * bool(self.peek(' '))}}}"
        if quoted := self.take(r'"[a-z ]+"'):
            return "text", rf"\text{{{quoted[0]}}}"
        if dotted := self.take(r"[a-z_]{2,}(?:\.[a-z_]{2,})+(?!\()"):
            return "text", rf"\texttt{{{dotted[0]}}}".replace("_", r"\_")
        if words := self.words():
            return "text", rf"\text{{{words}}}"
        if number := self.take(r"\d+(?:\.\d+)?(?!F\d)"):
            return "factor", self.postfix(number[0])
        if self.take(r"\|"):
            inner = self.sequence("|", plain)
            return "factor", self.postfix(rf"\left|{inner}\right{self.closed('|')}")
        if bracket := self.take(r"[(\[{]"):
            return "factor", self.postfix(self.bracketed(bracket[0], plain))
        if name := self.take(r"\dF\d|log1p|[A-Za-z]+\d*"):
            return self.named(name[0], plain)
        raise Unread(self.text[self.at :])

    def bracketed(self, bracket, plain=False):
        """What stands in a bracket that was just opened, and both brackets."""
        inner = self.sequence(CLOSE[bracket], plain)
        return rf"{OPEN[bracket]}{inner}\right{'' if bracket != '{' else chr(92)}{self.closed(CLOSE[bracket])}"

    def closed(self, end):
        """A closing bracket, which must be here."""
        if not self.take(re.escape(end)):
            raise Unread(f"no {end}")
        return end

    def words(self):
        """A run of English, a letter between two words included."""
        found, start = [], self.at
        while word := self.peek(rf"(?:{WORDS.pattern}|(?:(?<= )|\A)a(?= [a-z]{{2}}))"):
            if not is_word(word[0]) and not (word[0] == "a" and is_word(self.text[word.end() + 1 :].split()[0].strip(",;"))):
                break
            if word[0] == "in" and re.match(r" (?:[\[{]|[A-Z]\b)", self.text[word.end() :]):
                break
            found.append(word[0])
            self.at = word.end()
            if not self.peek(r" [A-Za-z]"):
                break
            self.take(" ")
        if found and self.text[self.at - 1] == " ":
            self.at -= 1
        if not found:
            self.at = start
            return ""
        before, after = self.text[start - 1 : start] == " ", self.peek(" ")
        return f"{' ' * before}{' '.join(found)}{' ' * bool(after)}"

    def named(self, name, plain):
        """A name, with what is written onto it and, of a function, what it is called with."""
        start, end = self.at - len(name), self.compound(name)
        if re.fullmatch(r"[a-z]{2,}_[a-z]{3,}(?:_[a-z]{2,})*", self.text[start:end]):
            name, self.at = self.text[start:end], end
        if name in SPOKEN:
            return "op", SPOKEN[name]
        if name == "in":
            return "op", r"\in "
        primes = self.take("'*")[0]
        subscripts = []
        while found := self.take(r"_(?:\{([^{}]*)\}|(\+-|\+|-|(?:\([a-z]+\))+|\([^()]*\))|([A-Za-z]+\d*|\d+[a-z]?))"):
            subscripts.append(Line(found[1]).whole(plain=True) if found[1] is not None else (found[2] or found[3]).replace("<=", r"\le ").replace("+-", r"\pm "))
        tex = r"\mathbb{E}" if name == "E" and (subscripts or self.peek(r"\[| \|\S| [A-Za-z(]")) else symbol(name)
        for mark, drawn in (("~", r"\tilde"), (r"\^(?=[ ,_]|$)", r"\hat")):
            if self.take(mark):
                tex = f"{drawn}{{{tex}}}"
        tex += "'" * len(primes)
        if subscripts:
            tex += f"_{{{nested(subscripts)}}}"
        later = self.take("'*")[0]
        tex, primes = tex + later, primes + later
        if self.take(r"\*(?=\()"):
            tex += "^*"
        if primes and self.peek(r"\^"):
            tex = f"{{{tex}}}"
        if name == "sqrt" and self.take(r"\("):
            inner = self.sequence(")", plain)
            self.closed(")")
            return "factor", self.postfix(rf"\sqrt{{{inner}}}")
        exponent = self.postfix("")
        if name in BIG and not self.peek(r"\("):
            return "big", f"{tex}{exponent} "
        if bracket := self.take(r"[(\[]"):
            return "factor", self.postfix(tex + exponent + self.bracketed(bracket[0], plain))
        return "factor", tex + exponent + (r"\," if name in FUNCTIONS else "")

    def compound(self, name):
        """Where a name of several words ends, which is none of an operator's with an index."""
        special = name in BIG or name in GREEK
        return self.at if special else re.compile(r"(?:_[a-z]{2,})*").match(self.text, self.at).end()

    def postfix(self, tex):
        """Factorials, subscripts of brackets and exponents."""
        raised = False
        while True:
            if found := self.take(r"!+(?!=)|'+" if tex else r"!+(?!=)"):
                tex += found[0]
            elif tex and (found := self.take(r"_(?:\{([^{}]*)\}|([A-Za-z]+|\d+[a-z]?))")):
                tex += f"_{{{Line(found[1]).whole(plain=True) if found[1] is not None else nested([found[2]])}}}"
            elif self.take(r"\^(?=[-\w({])"):
                if raised:
                    raise Unread("twice")
                raised = True
                tex += f"^{{{self.exponent()}}}"
            else:
                return tex

    def exponent(self):
        """What stands behind a ``^``."""
        sign = "-" if self.take("-") else ""
        if bracket := self.take(r"[({]"):
            start = self.at
            inner = self.sequence(CLOSE[bracket[0]], plain=True)
            index = bracket[0] == "(" and re.fullmatch(r"[a-z]", self.text[start : self.at])
            self.closed(CLOSE[bracket[0]])
            return sign + (f"({inner})" if index else inner)
        if found := self.take(r"T\b"):
            return sign + r"\top"
        if found := self.take(r"\d+[a-z]?"):
            return sign + found[0]
        if name := self.take(NAME.pattern):
            return sign + self.named(name[0], True)[1]
        raise Unread("^")


def is_word(text):
    base = text.removesuffix("'s")
    return base not in GREEK and base not in BIG and base not in FUNCTIONS and base not in SPOKEN and base not in ("sqrt",) and len(base) > 1


def symbol(name):
    if name in GREEK:
        return rf"\{name}"
    if name in BIG:
        return BIG[name]
    if hyper := re.fullmatch(r"(\d)F(\d)", name):
        return rf"{{}}_{hyper[1]}F_{hyper[2]}"
    if numbered := re.fullmatch(r"([A-Za-z])(\d+)", name):
        return f"{numbered[1]}_{numbered[2]}"
    if len(name) == 1:
        return name
    written = name.replace("_", r"\_")
    return rf"\operatorname{{{written}}}" if name in FUNCTIONS else rf"\mathrm{{{written}}}"


def nested(subscripts):
    first, *rest = subscripts
    if first in GREEK:
        drawn = rf"\{first}"
    else:
        drawn = rf"\mathrm{{{first}}}" if re.fullmatch(r"[A-Za-z]{3,}", first) and not re.fullmatch("[a-d]{3,}", first) else first
    if not rest:
        return drawn
    return f"{drawn}_{{{nested(rest)}}}" if first in GREEK else f"{drawn},{nested(rest)}"


def fractions(parts, plain):
    """The TeX of a sequence: its quotients as fractions, where nothing can be read in two ways."""
    terms = [[]]
    for kind, tex in parts:
        if kind in ("op", ".", "text"):
            terms.append([(kind, tex)])
            terms.append([])
        else:
            terms[-1].append((kind, tex))
    out = []
    for i, term in enumerate(terms):
        beside_dot = any(0 <= j < len(terms) and terms[j] and terms[j][0][0] == "." for j in (i - 1, i + 1))
        single = len(term) == 1 and term[0][0] in ("op", ".", "text")
        out.append(term[0][1] if single else quotient(term, plain, beside_dot))
    return "".join(out)


def quotient(term, plain, beside_dot):
    kinds = [kind for kind, _ in term]
    written = product(term)
    if kinds.count("/") != 1 or beside_dot:
        return written
    at = kinds.index("/")
    if any(tex.endswith(r"\,") for _, tex in term[:at]):
        return written  # log a / b: of the quotient, or of a?
    start = max((i + 1 for i in range(at) if kinds[i] == "big"), default=0)
    if start == at or at + 1 == len(term) or kinds[at + 1] == "big":
        return written
    above, below = product(term[start:at]), term[at + 1][1]
    short = len(above) < 4 and below.isdigit()
    if plain and short:
        return written
    style = r"\tfrac" if above.isdigit() and below.isdigit() else r"\frac"
    drawn = rf"{style}{{{bare(above)}}}{{{bare(below)}}}"
    return product([*term[:start], ("factor", drawn), *term[at + 2 :]])


def product(term):
    """Factors side by side: upright names a little apart, and a 1 after a factor is the vector of ones."""
    out, before = "", ("", "")
    for kind, tex in term:
        if kind == before[0] == "factor":
            if tex == "1" or tex.startswith("1^"):
                tex = rf"\mathbf{{1}}{tex[1:]}"
            elif tex[0].isdigit() and not before[1].endswith(r"\,"):
                out += r"\cdot "
            elif "mathrm" in tex[:9] or "mathrm" in before[1][:9]:
                out += r"\,"
        out, before = f"{out}{tex} ", (kind, tex)
    return out.replace(" / ", "/").strip()


def bare(tex):
    """Without the brackets around all of it."""
    if not (tex.startswith(r"\left(") and tex.endswith(r"\right)")):
        return tex
    depth = 0
    for found in re.finditer(r"\\(left|right)\b", tex):
        depth += 1 if found[1] == "left" else -1
        if not depth:
            return tex[6:-7] if found.end() == len(tex) - 1 else tex
    return tex
