"""Studies of methods: many cells of work, resumable and parallel, one file per study."""
