"""What happens inside a model: a task tells of a `Pass`, `trace` records it, `page/` draws it."""
