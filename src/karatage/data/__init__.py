"""The nouns: frozen, validated, read-only. No files, no algorithms."""
