"""Looking inside: `trace` records what happened in a pass, `render` draws it."""
