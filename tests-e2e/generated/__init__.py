"""Clients that generators make of our document, and calls with them."""
