"""All Random Features Representations are Equivalent: what only its pages use."""
