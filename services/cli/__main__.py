"""`python -m services.cli`, as the supervisor starts services."""

from services.cli import main

main()
