"""Arrays in, arrays out: the compiled inner loops. No names, no files, no random draws."""
