"""`smartbrain backup` and `smartbrain restore`: the whole database in a file and back, erasures kept."""
