"""Tests of the services against their OpenAPI documents."""
