"""Parse the text of a program: lines `name = value`, where values are names, numbers and calls of operators."""

import re

from .ufunc cimport offered


cdef tuple nodes_of(str text, tuple inputs, tuple results):
    """The nodes of a program in the form of plans, and the positions of its results; a repeated expression is computed once."""
    places, nodes = {name: i for i, name in enumerate(inputs)}, []
    known = {}

    def value(tokens):
        token = next(tokens)
        if tokens.ahead == "(":
            operands = []
            next(tokens)
            while tokens.ahead != ")":
                operands.append(value(tokens))
            next(tokens)
            node = (offered(token), *operands)
        elif token in places:
            return places[token]
        else:
            node = (None, float(token) if re.search("[.n]|e", token) else int(token))
        if (type(node[1]), node) not in known:
            known[type(node[1]), node] = len(inputs) + len(nodes)
            nodes.append(node)
        return known[type(node[1]), node]

    tokens = _Tokens(text)
    while tokens.ahead:
        name = next(tokens)
        next(tokens)
        places[name] = value(tokens)
    return nodes, tuple([places[name] for name in results])


class _Tokens:
    """The tokens of a text, with one token of lookahead."""

    def __init__(self, text):
        self.words = re.findall(r"-?\d[\d.]*(?:e[+-]?\d+)?|-?inf\b|\w+|[()=]", text)
        self.place = -1
        self.ahead = ""
        next(self)

    def __next__(self):
        self.place += 1
        word, self.ahead = self.ahead, self.words[self.place] if self.place < len(self.words) else ""
        return word
