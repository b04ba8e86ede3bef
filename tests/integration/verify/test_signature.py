"""`concord verify`, with `--sign` or a key: every changed byte and every signature by another key is found."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from concord.assessment.result_row import InfrastructureFailure
from tests.integration.verify.runs import Members, Run, invoked, merged

PROVENANCE = {"image_digests": {"green-agent": "ghcr.io/owner/concord-green@sha256:" + "ab" * 32}}


def pem(key: Ed25519PrivateKey | X25519PrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def public_pem(key: Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


@dataclass(frozen=True, slots=True)
class Signed:
    """A signed run, with its keys and its provenance."""

    run: Run
    folder: Path

    @property
    def signature(self) -> Path:
        return self.run.results.with_name("results.json.sig")

    @property
    def provenance(self) -> Path:
        return self.folder / "provenance.json"

    @property
    def key(self) -> Path:
        return self.folder / "key.pub"

    def verify(self, *options: str) -> tuple[int, str]:
        """The exit code and the output of `concord verify` with the key and the provenance."""
        arguments = [str(self.run.results), "--key", str(self.key), "--provenance", str(self.provenance), *options]
        return invoked("verify", *arguments)

    def sign(self, **environment: str) -> tuple[int, str]:
        """The exit code and the output of `concord verify --sign`."""
        return invoked("verify", "--sign", str(self.run.results), "--provenance", str(self.provenance), **environment)


@pytest.fixture(scope="module")
def secret() -> Ed25519PrivateKey:
    return Ed25519PrivateKey.generate()


@pytest.fixture(scope="module")
def original(
    pattern_runs: Mapping[str, Run], secret: Ed25519PrivateKey, tmp_path_factory: pytest.TempPathFactory
) -> Signed:
    """A signed run of a pattern; tests change copies."""
    folder = tmp_path_factory.mktemp("signed")
    (folder / "provenance.json").write_text(json.dumps(PROVENANCE))
    (folder / "key.pub").write_text(public_pem(secret))
    signed = Signed(pattern_runs["pattern"].copy(folder / "run"), folder)
    code, output = signed.sign(CONCORD_SIGNING_KEY=pem(secret))
    assert code == 0, output
    return signed


@pytest.fixture
def signed(original: Signed, tmp_path: Path) -> Signed:
    """A copy of the signed run, to be changed."""
    return again(original, tmp_path / "copy")


def again(original: Signed, folder: Path) -> Signed:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(original.folder, folder)
    return Signed(Run(folder / "run", original.run.assessment_id), folder)


def test_a_signed_result_verifies_with_the_signers_key_and_names_the_images(signed: Signed) -> None:
    code, output = signed.verify()
    assert code == 0, output
    assert "The signature was made with the given key." in output
    assert "green-agent ran ghcr.io/owner/concord-green@sha256:abab" in output


@given(data=st.data())
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("name", ["results", "bundle", "signature", "provenance"])
def test_any_changed_byte_is_found(name: str, data: st.DataObject, original: Signed, tmp_path: Path) -> None:
    changed = again(original, tmp_path / "changed")
    path: Path = getattr(changed.run if name in {"results", "bundle"} else changed, name)
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    code, output = changed.verify()
    assert code in {1, 2}, output


def test_a_forger_of_row_and_bundle_needs_the_key(signed: Signed) -> None:
    excuse = InfrastructureFailure(trial_id=None, stage="trial", message="Our network was slow.").model_dump()

    def excused(members: Members) -> None:
        inputs = json.loads(members["row-inputs.json"])
        members["row-inputs.json"] = json.dumps({**inputs, "infrastructure": [excuse]}).encode()

    signed.run.with_members(excused).with_row(lambda row: row["detail"]["infrastructure"].append(excuse))
    without_key, said = invoked("verify", str(signed.run.results))
    code, output = signed.verify()
    assert without_key == 0, said
    assert code == 1
    assert "is a signature of other files: results_sha256, rows differ" in output


def test_the_signature_of_another_key_does_not_count(signed: Signed) -> None:
    assert signed.sign(CONCORD_SIGNING_KEY=pem(Ed25519PrivateKey.generate()))[0] == 0
    code, output = signed.verify()
    assert code == 1
    assert "the signature was not made with this key" in output


def test_a_statement_cannot_borrow_the_signature_of_another_one(signed: Signed, secret: Ed25519PrivateKey) -> None:
    before = json.loads(signed.signature.read_text())
    signed.run.results.write_text(json.dumps(signed.run.document()))
    assert signed.sign(CONCORD_SIGNING_KEY=pem(secret))[0] == 0
    after = json.loads(signed.signature.read_text())
    signed.signature.write_text(json.dumps({**after, "signature": before["signature"]}, indent=2) + "\n")
    code, output = signed.verify()
    assert code == 1
    assert "the signature was not made with this key" in output


def test_a_signature_written_in_another_way_is_refused(signed: Signed) -> None:
    signed.signature.write_text(json.dumps(json.loads(signed.signature.read_text())))
    code, output = signed.verify()
    assert code == 1
    assert "is not written as `concord verify --sign` writes it" in output


def test_a_signature_is_not_valid_for_another_provenance(signed: Signed) -> None:
    signed.provenance.write_text(json.dumps({"image_digests": {"green-agent": "another"}}))
    code, output = signed.verify()
    assert code == 1
    assert "provenance_sha256, image_digests differ" in output


def test_the_provenance_of_another_bundle_is_found(signed: Signed) -> None:
    signed.provenance.write_text(json.dumps({**PROVENANCE, "bundle_digests": {signed.run.assessment_id: "00" * 32}}))
    code, output = signed.verify()
    assert code == 1
    assert f"the provenance names another bundle of {signed.run.assessment_id}" in output


def test_a_key_needs_a_signature(signed: Signed) -> None:
    signed.signature.unlink()
    code, output = signed.verify()
    assert code == 2
    assert "results.json.sig: No such file or directory" in output


class TestSigning:
    def test_results_that_do_not_follow_from_their_bundle_are_not_signed(
        self, signed: Signed, secret: Ed25519PrivateKey
    ) -> None:
        signed.signature.unlink()
        signed.run.with_row(lambda row: row.update(score=99))
        code, output = signed.sign(CONCORD_SIGNING_KEY=pem(secret))
        assert code == 1
        assert "$.results[0].score" in output
        assert not signed.signature.exists()

    def test_an_assessment_without_all_its_shards_is_not_signed(
        self, pattern_runs: Mapping[str, Run], tmp_path: Path, secret: Ed25519PrivateKey
    ) -> None:
        results = merged(tmp_path / "merged", pattern_runs["shard 0"])
        assert invoked("verify", "--sign", str(results), CONCORD_SIGNING_KEY=pem(secret))[0] == 3
        assert not results.with_name("results.json.sig").exists()

    @pytest.mark.parametrize(
        ("key", "line"),
        [
            ("", "no private key: give --key, or set CONCORD_SIGNING_KEY"),
            ("not-a-key-but-secret", "CONCORD_SIGNING_KEY: is not a private key in PEM without a password"),
            (pem(X25519PrivateKey.generate()), "CONCORD_SIGNING_KEY: is not an ed25519 key"),
        ],
        ids=["none", "no key", "another kind"],
    )
    def test_an_unusable_key_is_refused_without_being_shown(self, key: str, line: str, signed: Signed) -> None:
        code, output = signed.sign(CONCORD_SIGNING_KEY=key)
        assert code == 2
        assert line in output
        assert not key or key[:20] not in output
