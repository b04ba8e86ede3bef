"""The office: days of a personal assistant, generated with their errands, and graded by end states and harm."""
