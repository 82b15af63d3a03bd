"""Tables of every kind of result, and the sentences beside them, for terminal, page, notebook and paper."""
