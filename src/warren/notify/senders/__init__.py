"""One module for each class of notifier."""
