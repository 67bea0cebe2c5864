"""The words that all stages share: statuses, tables, verdicts, the board."""
