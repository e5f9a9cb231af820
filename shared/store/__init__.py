"""All SQL statements. Each module names its tables and their writers; the caller owns the transaction."""
