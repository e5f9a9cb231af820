"""What is decided without asking anybody: which memory is meant, what is shown of it, and to whom."""
