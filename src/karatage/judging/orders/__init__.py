"""In which order documents are judged."""
