"""`python -m karatage` is the command line."""

from karatage.cli.app import main

if __name__ == "__main__":
    main()
