"""A suite of other people's tasks, from the files that CONCORD_PUBLISHED names; empty without it."""

import os

from concord_published.suite import suite_of

SUITE = suite_of(os.environ.get("CONCORD_PUBLISHED", ""))
