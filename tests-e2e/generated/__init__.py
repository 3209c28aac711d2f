"""Tests of clients generated from the OpenAPI document."""
