"""HTML pages: a tokenizer after the standard, BeautifulSoup's tree, and the text that a page shows."""

from groundkit.adapters.html.extractor import HtmlExtractor

__all__ = ["HtmlExtractor"]
