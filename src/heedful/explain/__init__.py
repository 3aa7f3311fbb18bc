"""What happens inside a model: `trace` records a pass, `heads` measures, `render` draws."""
