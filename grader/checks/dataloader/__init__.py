"""The worker processes of a `DataLoader`."""
