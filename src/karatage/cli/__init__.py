"""The command line: a command parses, calls the library and prints."""
