"""Bundles: one file per assessment, from which anybody can compute the assessment's row again."""

from concord.bundle.contents import BundleError, Contents, TrialContents, contents_of
from concord.bundle.manifest import (
    MANIFEST,
    MAX_CONTENT,
    PLAN,
    REQUEST,
    ROW_INPUTS,
    Manifest,
    Member,
    Sha256,
    TrialMember,
    bundle_file,
    trial_member,
)
from concord.bundle.reading import Bundle, read_bundle
from concord.bundle.writing import BundleTooLargeError, BundleWriter, report_line

__all__ = [
    "MANIFEST",
    "MAX_CONTENT",
    "PLAN",
    "REQUEST",
    "ROW_INPUTS",
    "Bundle",
    "BundleError",
    "BundleTooLargeError",
    "BundleWriter",
    "Contents",
    "Manifest",
    "Member",
    "Sha256",
    "TrialContents",
    "TrialMember",
    "bundle_file",
    "contents_of",
    "read_bundle",
    "report_line",
    "trial_member",
]
