"""What an answer costs: operations, bytes, precision; never seconds."""
