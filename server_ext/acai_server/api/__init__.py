"""HTTP only: one file per service, one base handler.

What a request means is in the contract, what it does in a service.
"""
