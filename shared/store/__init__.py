"""Every SQL statement. A module names the tables it touches and who writes them; the caller owns the transaction."""
