"""The text of PDF files, by pypdf."""

from groundkit.adapters.pdf.extractor import PdfExtractor

__all__ = ["PdfExtractor"]
