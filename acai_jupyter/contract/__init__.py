"""The words of the system as types: requests, responses, states, errors, the spec grammar. No I/O."""
