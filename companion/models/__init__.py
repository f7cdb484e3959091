"""Models of experiments: clustering, flows, ranks and votes by a kernel or its features."""
