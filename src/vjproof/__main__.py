"""`python -m vjproof`."""

from vjproof.cli import main

if __name__ == "__main__":
    main()
