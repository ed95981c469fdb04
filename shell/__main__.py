"""`python -m groundkit` is `gk`."""

from groundkit.cli import main

if __name__ == "__main__":
    main()
