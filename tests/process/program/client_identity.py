"""Property: users, keys, organisations, groups, roles and workspaces work as the published client uses them (client_calls.md §1),
and the rights that follow are those of its table."""

import base64

import herald
from published_client import CREATE, DELETE, DEPLOYMENT, ORGANIZATION, PROXY, PublishedClient, READ, REGISTRY, Team, UNSET_MODEL, UPDATE, quoted

def the_table_of_permissions():
    with herald.folder() as folder, Team(folder) as team:
        for number, actions in enumerate(([], [READ], [READ, UPDATE], [CREATE, READ, UPDATE, DELETE])):
            name = f"team {number}"
            team.shared(name, actions)
            model = team.a.create_model("m", workspace=name)["id"]
            version = team.a.create_version(model, "v")
            for path in (f"registered_models/{model}", f"model_versions/{version['id']}"):
                answer = team.b.call("GET", f"{REGISTRY}/{path}")
                assert answer.status == (200 if actions else 404), (actions, answer)
                assert actions or answer.json["code"] == 5, answer
            write = team.b.call("PATCH", f"{REGISTRY}/registered_models/{model}/model_versions/{version['id']}", {"description": "d"})
            expected = 200 if UPDATE in actions else 403 if actions else 404
            assert write.status == expected, (actions, write)
            assert expected != 403 or write.json["code"] == 7, write
            create = team.b.call("POST", f"{REGISTRY}/workspaces/{quoted(name)}/registered_models", {**UNSET_MODEL, "name": "b's"})
            assert create.status == (200 if CREATE in actions else 403 if actions else 404), (actions, create)
            build = team.b.call("POST", f"{DEPLOYMENT}/workspace/{quoted(name)}/builds", {"model_version_id": int(version["id"])})
            assert build.status == (403 if actions else 404), (actions, build)  # it is DEPLOY on endpoints that B lacks


def a_workspace_is_made_used_and_deleted():
    with herald.folder() as folder, Team(folder) as team:
        workspace, role = team.shared("digits and spaces 1", [READ])
        assert team.b.get(f"{PROXY}/workspace/getWorkspaceByName?name={quoted('digits and spaces 1')}")["id"] == workspace
        assert team.b.call("GET", f"{PROXY}/organization/getOrganizationByName?org_name={quoted('digits and spaces 1')}").status == 200
        team.b.refused(404, 5, "", "GET", f"{PROXY}/organization/getOrganizationByName?org_name={quoted('b@example.com')}")
        seen = team.b.must("GET", f"{PROXY}/workspace/getVisibleWorkspaces")["workspace"]
        assert [one.get("org_name", one.get("username")) for one in seen] == ["digits and spaces 1", "b@example.com"], seen
        team.b.refused(403, 7, "Admins", "DELETE", f"{ORGANIZATION}/1/workspace/{workspace}")
        team.a.refused(400, 9, "is used by the workspace", "DELETE", f"{ORGANIZATION}/1/role/{role}")
        model = team.a.create_model("m", workspace="digits and spaces 1")["id"]
        team.a.refused(400, 9, "registered models", "DELETE", f"{ORGANIZATION}/1/workspace/{workspace}")
        other, other_role = team.shared("empty", [READ])
        assert team.a.must("DELETE", f"{ORGANIZATION}/1/workspace/{other}") == {}
        assert team.a.must("DELETE", f"{ORGANIZATION}/1/role/{other_role}") == {}
        assert team.b.get(f"{PROXY}/workspace/getWorkspaceById?id={other}") is None
        assert team.b.get(f"{REGISTRY}/registered_models/{model}")


def the_default_workspace_is_what_its_user_sets():
    with herald.folder() as folder, Team(folder) as team:
        workspace, _ = team.shared("home", [READ])
        me = team.b.must("GET", f"{PROXY}/uac/getCurrentUser")
        team.b.must("POST", f"{PROXY}/uac/updateUser", {"info": me, "default_workspace_id": workspace}, warned=True)
        assert team.b.must("GET", f"{PROXY}/uac/getCurrentUser")["verta_info"]["default_workspace_id"] == workspace
        team.a.must("DELETE", f"{ORGANIZATION}/1/workspace/{workspace}")
        own = me["verta_info"]["default_workspace_id"]
        assert team.b.must("GET", f"{PROXY}/uac/getCurrentUser")["verta_info"]["default_workspace_id"] == own


def keys_are_changed_one_after_the_other():
    with herald.folder() as folder, Team(folder) as team:
        second = team.b.must("POST", f"{PROXY}/uac/addDevKey", {})["secondary_dev_key"]
        team.b.refused(400, 9, "two developer keys", "POST", f"{PROXY}/uac/addDevKey", {})
        renewed = PublishedClient(team.server.port, "b@example.com", second)
        assert "dev_key" not in renewed.must("DELETE", f"{PROXY}/uac/deletePrimaryDevKey")
        team.b.refused(401, 16, "not a valid pair", "GET", f"{PROXY}/uac/getCurrentUser")
        renewed.refused(400, 9, "only developer key", "DELETE", f"{PROXY}/uac/deleteSecondaryDevKey")
        headers = {"Idempotency-Key": "one"}
        first = renewed.must("POST", f"{PROXY}/uac/addDevKey", {}, headers=headers)["dev_key"]
        assert renewed.must("POST", f"{PROXY}/uac/addDevKey", {}, headers=headers)["dev_key"] == first, "a repeat shows it again"
        team.a.must("DELETE", f"{PROXY}/uac/deleteSecondaryDevKeyForUser?user_id={team.b_id}")
        renewed.refused(401, 16, "", "POST", f"{PROXY}/uac/addDevKey", {}, headers=headers)
        assert first not in team.server.process.tail(1_000_000) and second not in team.server.process.tail(1_000_000)


def a_session_opens_until_it_is_deleted():
    with herald.folder() as folder, Team(folder) as team:
        sent = {"verta_user_id": team.b_id, "session_name": "nightly", "ttl_seconds": "600"}
        made = team.b.must("POST", f"{PROXY}/session/createSession", sent)
        guest = PublishedClient(team.server.port, "b@example.com", made["session_secret_key"])
        assert guest.must("GET", f"{PROXY}/uac/getCurrentUser")["email"] == "b@example.com"
        found = team.b.must("POST", f"{PROXY}/session/findSession", {"name": ["nightly"]})
        assert found["total_records"] == "1" and found["sessions"][0]["ttl_epoch"] == made["ttl_epoch"], found
        team.b.must("POST", f"{PROXY}/session/deleteSession", {"ids": [found["sessions"][0]["id"]]})
        guest.refused(401, 16, "", "GET", f"{PROXY}/uac/getCurrentUser")


def a_removed_user_is_gone_but_stays_the_author():
    with herald.folder() as folder, Team(folder) as team:
        team.b.create_model("mine", workspace="b@example.com")
        assert team.a.must("POST", f"{PROXY}/uac/deleteUser", {"user_id": team.b_id}) == {"status": True}
        team.b.refused(401, 16, "", "GET", f"{PROXY}/uac/getCurrentUser")
        assert team.a.get(f"{PROXY}/uac/getUser?email=b@example.com") is None
        assert team.a.must("GET", f"{PROXY}/uac/getUser?user_id={team.b_id}")["email"] == "b@example.com"
        name = quoted(f"b@example.com (removed {team.b_id})")
        found = team.a.must("POST", f"{REGISTRY}/workspaces/{name}/registered_models/find", {})
        assert [model["owner_id"] for model in found["registered_models"]] == [team.b_id], found
        team.a.must("POST", f"{PROXY}/uac/createUser", {"info": {"email": "b@example.com"}})


def a_repeat_of_a_creation_answers_the_same_after_the_user_was_removed():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        creation = ("POST", "/api/v1/uac-proxy/uac/createUser", {"info": {"email": "b@example.com"}}, {"Idempotency-Key": "one"})
        made = client.must(*creation)
        client.must("POST", "/api/v1/uac-proxy/uac/deleteUser", {"user_id": made["info"]["verta_info"]["user_id"]})
        assert client.must(*creation) == made
        server.stop()


def service_accounts_work_without_a_person():
    with herald.folder() as folder, Team(folder) as team:
        sent = {"service_account": {"org_id": "1", "email": "robot@example.com", "description": "nightly"}}
        team.b.refused(403, 7, "Admins", "POST", f"{ORGANIZATION}/1/serviceAccounts", sent)
        made = team.a.must("POST", f"{ORGANIZATION}/1/serviceAccounts", sent)["service_account"]
        robot = PublishedClient(team.server.port, "robot@example.com", made["primary_key"])
        assert robot.must("GET", f"{PROXY}/uac/getCurrentUser")["email"] == "robot@example.com"
        found = team.b.must("POST", f"{PROXY}/service_account/findServiceAccount", {"usernames": ["robot@example.com"]})
        assert [one["id"] for one in found["service_accounts"]] == [made["id"]] and "primary_key" not in found["service_accounts"][0]
        team.a.must("DELETE", f"{ORGANIZATION}/1/serviceAccounts/{made['id']}")
        robot.refused(401, 16, "", "GET", f"{PROXY}/uac/getCurrentUser")


def basic_authentication_does_the_same():
    with herald.folder() as folder, Team(folder) as team:
        basic = PublishedClient(team.server.port)
        pair = base64.b64encode(f"{herald.ADMIN_EMAIL}:{herald.ADMIN_KEY}".encode()).decode()
        basic.headers = {"Authorization": f"Basic {pair}"}
        assert basic.must("GET", f"{PROXY}/uac/getCurrentUser")["email"] == herald.ADMIN_EMAIL
        for wrong in ("Basic", "Basic !", "Bearer x", "Basic " + base64.b64encode(b"no colon").decode()):
            basic.headers = {"Authorization": wrong}
            basic.refused(401, 16, "Authorization", "GET", f"{PROXY}/uac/getCurrentUser")
        token = PublishedClient(team.server.port)
        token.headers = {"Grpc-Metadata-source": "JWT", "Grpc-Metadata-bearer_access_token": "x"}
        token.refused(401, 16, "Grpc-Metadata-bearer_access_token", "GET", f"{PROXY}/uac/getCurrentUser")


if __name__ == "__main__":
    herald.run()
