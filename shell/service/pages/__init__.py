"""The web page of `gk serve`: pure functions from answers to HTML, which works without its script."""

from groundkit.service.pages.form import SearchForm
from groundkit.service.pages.frame import POLICY
from groundkit.service.pages.reader import reader_page
from groundkit.service.pages.search import problem_page, search_page

__all__ = ["POLICY", "SearchForm", "problem_page", "reader_page", "search_page"]
