"""Universal Graph Random Features: what only its pages use."""
