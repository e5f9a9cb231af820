"""`smartbrain eval`: what the rules, or the model behind them, read into labelled messages (R156, R157, R161)."""
