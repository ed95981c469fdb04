"""What a verification found, for other programs and for people: Markdown, JUnit XML, one HTML page."""
