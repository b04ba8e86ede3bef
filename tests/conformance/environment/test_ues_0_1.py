"""A client of UES 0.1 works with its key and its version in the URL. For other clients, nothing changes."""

from base64 import b64encode
from collections.abc import Callable

import pytest
from starlette.testclient import TestClient

from tests.conformance.environment.conftest import ADMIN_KEY

MAIL = {"from_address": "ana@example.com", "to_addresses": ["user@example.com"], "subject": "Hi", "body_text": "Hello"}
Opener = Callable[[str], TestClient]


@pytest.fixture(scope="module")
def at(ues: TestClient) -> Opener:
    """Opens clients of one environment by the user and password of their URL."""
    ues.post("/simulation/start", json={})
    ues.post("/email/receive", json={**MAIL, "message_id": "m1"})
    ues.post("/email/label", json={"message_id": "m1", "labels": ["work"]})
    return lambda login: TestClient(ues.app, base_url=f"http://{login}@environment")


def test_it_reads_numbers_of_mails_by_folder_and_label(at: Opener) -> None:
    state = at(f"0.1:{ADMIN_KEY}").get("/email/state").json()
    assert (state["folders"]["inbox"], state["folders"]["sent"], state["labels"]) == (1, 0, {"work": 1})


@pytest.mark.parametrize("login", [f"0.3:{ADMIN_KEY}", f"ues:{ADMIN_KEY}"])
def test_clients_of_later_versions_read_the_ids(at: Opener, ues: TestClient, login: str) -> None:
    for client in (ues, at(login)):
        state = client.get("/email/state").json()
        assert (state["folders"]["inbox"], state["labels"]) == (["m1"], {"work": ["m1"]})


def test_the_header_of_later_versions_goes_before_the_password(at: Opener) -> None:
    client = at("0.1:wrong")
    state = client.get("/email/state", headers={"x-api-key": ADMIN_KEY}).json()
    assert state["folders"]["inbox"] == 1


@pytest.mark.parametrize(
    "authorization",
    [
        "Basic",
        "Basic ",
        "Basic ???",
        f"Basic {b64encode(bytes([255, 58, 255])).decode()}",
        f"Basic {b64encode(b'0.1').decode()}",
        f"Basic {b64encode(b'0.1:' + ADMIN_KEY[:-1].encode()).decode()}",
        f"Bearer {ADMIN_KEY}",
    ],
)
def test_a_missing_or_wrong_password_is_refused(ues: TestClient, authorization: str) -> None:
    with TestClient(ues.app, headers={"authorization": authorization}) as client:
        assert client.get("/email/state").status_code == 401


@pytest.mark.parametrize(("method", "path"), [("GET", "sms"), ("POST", "sms/query")])
def test_the_calls_of_0_1_need_the_permission_of_the_modality(
    at: Opener, ues: TestClient, method: str, path: str
) -> None:
    body = {"name": "k", "permissions": ["email:state", "email:query"]}
    secret = ues.post("/keys", json=body).json()["secret"]
    client = at(f"0.1:{secret}")
    assert client.request(method, f"/environment/modalities/{path}", json={}).status_code == 403
    allowed = path.replace("sms", "email")
    assert client.request(method, f"/environment/modalities/{allowed}", json={}).status_code == 200
