"""The machine itself. Read `steps` first: every arrow of the data flow is a function there."""
