"""One module per outside technology; they translate and never decide."""
