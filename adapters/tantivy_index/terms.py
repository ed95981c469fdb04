"""What turns a search view into terms."""

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

#: Tokens with their terms; a language's common words many times over.
_REMEMBERED = 1 << 16


class Terms(dict[str, str]):
    """Terms of tokens that were met. Texts say the same words again and again: looking them up is several times faster
    than the engine's own stemming of each, in a search and in an ingest."""

    def __init__(self, tokenizer: TextAnalyzer) -> None:
        self._tokenizer = tokenizer

    def __missing__(self, token: str) -> str:
        (term,) = self._tokenizer.analyze(token)
        term = term or token
        if len(self) < _REMEMBERED:
            self[token] = term
        return term

    def of(self, view: str) -> list[str]:
        """The terms of a search view, in order, one for each token."""
        return list(map(self.__getitem__, view.split()))


def tokenizer_for(language: str) -> TextAnalyzer:
    builder = TextAnalyzerBuilder(Tokenizer.whitespace())
    return (builder if language == "none" else builder.filter(Filter.stemmer(language))).build()
