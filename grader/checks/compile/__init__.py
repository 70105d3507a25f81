"""What `torch.compile` makes of an answer."""
