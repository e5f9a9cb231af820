"""`smartbrain eval`: the results of the rules, or of the model behind them, on labelled messages."""
