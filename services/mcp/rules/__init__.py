"""Pure decisions: which memory is meant, and what is shown of it."""
