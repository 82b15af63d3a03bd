"""The only place that opens files; other people's words for things are translated here."""
