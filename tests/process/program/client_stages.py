"""Property: stages, their policies and inbox, builds and scans work as the published client and its people use them, error
codes included (client_calls.md §3 row updateStage, §6 builds and scans; wire.md §3, §4)."""

import json

import herald
from published_client import DEPLOYMENT, PublishedClient, REGISTRY, STAGES, World, as_put

STAGE = f"{REGISTRY}/stage"
POLICIES = f"{REGISTRY}/workspaces/default/policies"
DEFAULTS = {"require_approval_for": ["PRODUCTION"], "approvals_required": 1, "require_safe_scan_for": [], "commit_on_approve": False,
            "scan_by_others": False}
MEMBERS = ("transition", "approval", "rejection", "close", "update")
WAITING = {"waiting_for_me": True}


def act(client, verb, **body):
    """A stage call; the activity holds exactly one member, a comment none."""
    activity = client.must("POST", f"{STAGE}/{verb}", {"comment": "", **body})["activity"]
    held = [name for name in MEMBERS if name in activity]
    assert len(held) == (0 if verb == "createComment" else 1), activity
    return activity


def ask_for(client, version, stage, comment=""):
    return act(client, "createTransition", model_version_id=version, desired_stage=stage, comment=comment)["id"]


def found(client, what, **body):
    answer = client.must("POST", f"{STAGE}/{what}", body)
    assert isinstance(answer["total_records"], str) and "next_page_token" in answer
    return answer["activities"]


def inbox(client, **body):
    return [activity["id"] for activity in found(client, "findTransitions", **body)]


def the_client_changes_the_stage_where_no_approval_is_needed():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        version = client.create_version(client.create_model("m")["id"], "v")["id"]
        body = {"model_version_id": version, "comment": "by change_stage"}
        for stage in (1, 2, 4, 5):
            activity = client.must("POST", f"{STAGE}/updateStage", {**body, "stage": stage})["activity"]
            assert activity["update"] == {"stage": STAGES[stage]} and activity["comment"] == "by change_stage", activity
            assert client.version(version)["stage"] == STAGES[stage]
        before = client.version(version)
        act(client, "updateStage", model_version_id=version, stage="UNASSIGNED")
        assert client.version(version) == before, "to the same stage nothing changes"
        client.refused(403, 7, "createTransition", "POST", f"{STAGE}/updateStage", {**body, "stage": 3})
        for wrong in (0, 6, "NOWHERE", None):
            client.refused(400, 3, "stage", "POST", f"{STAGE}/updateStage", {**body, "stage": wrong})
        client.refused(404, 5, "999", "POST", f"{STAGE}/updateStage", {"model_version_id": "999", "stage": 1})
        assert client.must("PUT", POLICIES, {"require_approval_for": []}) == {**DEFAULTS, "require_approval_for": []}
        act(client, "updateStage", model_version_id=version, stage=3)
        assert client.version(version)["stage"] == "PRODUCTION"
        promotion = client.must("GET", f"{REGISTRY}/model_versions/{version}/promotion")
        assert (promotion["status"], promotion["reason"], promotion["event_id"]) == ("NONE", "", ""), "nothing was promoted"


def no_approval_is_needed_where_the_installation_demands_none():
    for none in ("none", ""):
        with herald.folder() as folder:
            server = herald.Standalone(folder, "--require-approval-for", none)
            client = PublishedClient(server.port)
            version = client.create_version(client.create_model("m")["id"], "v")["id"]
            act(client, "updateStage", model_version_id=version, stage=3)
            assert client.must("PUT", POLICIES, {}) == {**DEFAULTS, "require_approval_for": []}
            assert server.stop() == 0


def policies_are_the_admins_and_are_replaced_as_a_whole():
    with herald.folder() as folder, World(folder) as world:
        client, stranger = world.client, world.user("b@example.com")
        assert client.must("GET", POLICIES) == DEFAULTS
        full = {"require_approval_for": ["STAGING", 3], "approvals_required": 2, "require_safe_scan_for": [3, 4], "commit_on_approve": True}
        kept = {**full, "require_approval_for": ["STAGING", "PRODUCTION"], "require_safe_scan_for": ["PRODUCTION", "ARCHIVED"]}
        kept["scan_by_others"] = True  # since a stage needs a safe scan
        assert client.must("PUT", POLICIES, full) == kept and client.must("GET", POLICIES) == kept
        client.refused(400, 3, "nearest name is approvals_required", "PUT", POLICIES, {"approvals_requird": 2})
        with_deadline = {**DEFAULTS, "promotion_deadline_seconds": 3600}
        assert client.must("PUT", POLICIES, {"promotion_deadline_seconds": 3600}) == with_deadline
        assert client.must("PUT", POLICIES, {}) == DEFAULTS
        for member, wrong in (("require_approval_for", [0]), ("require_safe_scan_for", ["UNKNOWN"]), ("approvals_required", 0),
                              ("approvals_required", 101), ("promotion_deadline_seconds", 2 ** 32 - 1), ("commit_on_approve", "yes")):
            client.refused(400, 3, member, "PUT", POLICIES, {member: wrong})
        assert client.must("GET", POLICIES) == DEFAULTS
        for method in ("GET", "PUT"):
            stranger.refused(404, 5, "not found", method, POLICIES, {} if method == "PUT" else None)
        own = f"{REGISTRY}/workspaces/b%40example.com/policies"
        assert stranger.must("GET", own)["require_approval_for"] == [] == stranger.must("PUT", own, {})["require_approval_for"]
        client.refused(404, 5, "not found", "GET", own)
        version = stranger.create_version(stranger.create_model("mine", "b@example.com")["id"], "v")["id"]
        stranger.must("PUT", own, {"require_approval_for": ["PRODUCTION"]})
        body = {"model_version_id": version, "desired_stage": 3}
        stranger.refused(400, 9, "must be taken back", "POST", f"{STAGE}/createTransition", body)
        stranger.refused(403, 7, "must be taken back", "POST", f"{STAGE}/updateStage", {"model_version_id": version, "stage": 3})


def an_approver_finds_what_waits_for_him_and_only_that():
    with herald.folder() as folder, World(folder) as world:
        client, approver, stranger = world.client, world.second_admin(), world.user("b@example.com")
        model, other_model = client.create_model("m")["id"], client.create_model("n")["id"]
        versions = [client.create_version(model, f"v{number}")["id"] for number in range(3)]
        elsewhere = client.create_version(other_model, "v")["id"]
        asked = [ask_for(client, version, "PRODUCTION", "please") for version in (*versions, elsewhere)]
        his = ask_for(approver, elsewhere, "STAGING")
        assert inbox(approver, **WAITING) == asked and inbox(client, **WAITING) == [his] and inbox(stranger) == []
        assert inbox(approver, mine=True) == [his] and inbox(client, mine=True, state=["PENDING"]) == asked
        assert inbox(approver, registered_model_id=model, **WAITING) == asked[:3]
        assert inbox(approver, model_version_id=versions[1]) == [asked[1]]
        entry = found(approver, "findTransitions", model_version_id=versions[0])[0]
        assert entry["comment"] == "please" and entry["model_version_id"] == versions[0] and entry["transition"]["state"] == "PENDING"

        act(approver, "approveTransition", transition_id=asked[0])
        act(approver, "rejectTransition", transition_id=asked[1])
        act(client, "closeTransition", transition_id=asked[2])
        assert inbox(approver, **WAITING) == [asked[3]]
        assert inbox(approver, state=["APPROVED"]) == [asked[0]] and inbox(approver, state=[2, 4]) == asked[1:3]
        act(client, "commitTransition", transition_id=asked[0])
        assert inbox(client, state=["COMMITTED"]) == [asked[0]]

        page = client.must("POST", f"{STAGE}/findTransitions", {"pagination": {"page_number": 1, "page_limit": 2}})
        assert (page["total_records"], [one["id"] for one in page["activities"]]) == ("5", asked[:2]), page
        rest = client.must("POST", f"{STAGE}/findTransitions", {"pagination": {"page_limit": 1000, "page_token": page["next_page_token"]}})
        assert [one["id"] for one in rest["activities"]] == [*asked[2:], his] and rest["next_page_token"] == ""
        client.refused(400, 3, "UNKNOWN", "POST", f"{STAGE}/findTransitions", {"state": [0]})
        for place in ({"model_version_id": versions[0]}, {"registered_model_id": model}):
            for what in ("findTransitions", "findActivities"):
                stranger.refused(404, 5, "not found", "POST", f"{STAGE}/{what}", place)


def a_stage_history_tells_everything_oldest_first():
    with herald.folder() as folder, World(folder) as world:
        client, approver = world.client, world.second_admin()
        model = client.create_model("m")["id"]
        version = client.create_version(model, "v")["id"]
        transition = ask_for(client, version, "PRODUCTION")
        act(approver, "rejectTransition", transition_id=transition, comment="too early")
        act(client, "createComment", model_version_id=version, comment="it is ready")
        act(approver, "approveTransition", transition_id=transition)
        act(client, "commitTransition", transition_id=transition)
        act(client, "updateStage", model_version_id=version, stage="ARCHIVED")
        for place in ({"model_version_id": version}, {"registered_model_id": model}, {"registered_model_id": model, "model_version_id": version}):
            history = found(client, "findActivities", **place)
            assert [next((name for name in MEMBERS if name in one), "comment") for one in history] == [
                "transition", "rejection", "comment", "approval", "update", "update"], history
        assert [one["activity_state"] for one in history] == ["COMMITTED", "REJECTED", "UNKNOWN", "APPROVED", "COMMITTED", "UNKNOWN"]
        assert [one.get("transition_id") for one in history] == [None, transition, None, transition, transition, None]
        assert history[2]["comment"] == "it is ready" and history[5]["update"] == {"stage": "ARCHIVED"}
        times = [int(one["time_created"]) for one in history]
        assert times == sorted(set(times))
        first = client.must("POST", f"{STAGE}/findActivities", {"model_version_id": version, "pagination": {"page_number": 2, "page_limit": 2}})
        assert first["activities"] == history[2:4] and first["total_records"] == "6"
        client.refused(400, 3, "registered_model_id", "POST", f"{STAGE}/findActivities", {})
        client.refused(400, 3, "comment", "POST", f"{STAGE}/createComment", {"model_version_id": version, "comment": ""})
        failed = client.must("GET", f"{REGISTRY}/model_versions/{version}/promotion")
        assert failed["status"] == "FAILED" and "from PRODUCTION to ARCHIVED" in failed["reason"], failed


def an_approval_commits_where_the_policy_says_so_and_tells_why_when_it_does_not():
    with herald.folder() as folder, World(folder) as world:
        client, approver = world.client, world.second_admin()
        client.must("PUT", POLICIES, {"commit_on_approve": True, "require_safe_scan_for": ["PRODUCTION"]})
        version = client.create_version(client.create_model("m")["id"], "v")["id"]
        transition = ask_for(client, version, 3)
        approval = act(approver, "approveTransition", transition_id=transition)
        assert approval["activity_state"] == "APPROVED" and "require_safe_scan_for" in approval["message"], approval
        client.refused(400, 9, "require_safe_scan_for", "POST", f"{STAGE}/commitTransition", {"transition_id": transition})
        build = client.must("POST", f"{DEPLOYMENT}/workspace/default/builds", {"model_version_id": int(version), "external_location": "x"})
        scan = f"{DEPLOYMENT}/workspace/default/builds/{build['id']}/scan"
        client.must("POST", scan, {"scan_external": True})
        report = {"scan_status": "scanned", "scan_external_results": {"safety_status": "safe", "url": ""}}
        client.refused(403, 7, "scan_by_others", "PUT", scan, report)
        approver.must("PUT", scan, report)
        approval = act(approver, "approveTransition", transition_id=transition)
        assert approval["activity_state"] == "COMMITTED" and "message" not in approval, approval
        assert client.version(version)["stage"] == "PRODUCTION"
        promotion = client.must("GET", f"{REGISTRY}/model_versions/{version}/promotion")
        assert promotion["status"] == "IN_PROGRESS" and promotion["deliveries"] == {"pending": 0, "succeeded": 0, "dead": 0, "unknown": 0}
        assert promotion["requested_by"] == found(client, "findActivities", model_version_id=version)[-1]["author_id"]


def a_promotion_ends_by_its_deadline():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        client.must("PUT", POLICIES, {"require_approval_for": [], "promotion_deadline_seconds": 1})
        version = client.create_version(client.create_model("m")["id"], "v")["id"]
        act(client, "commitTransition", transition_id=ask_for(client, version, 3))
        path = f"{REGISTRY}/model_versions/{version}/promotion"
        assert client.must("GET", path)["status"] == "IN_PROGRESS"
        herald.until(lambda: client.must("GET", path)["status"] == "FAILED", 20, "the promotion has failed")
        ended = client.must("GET", path)
        assert "promotion_deadline_seconds" in ended["reason"] and int(ended["time_completed"]) >= int(ended["time_committed"]) + 1000
        record = {**as_put(client.version(version)), "redirect_metadata": "https://example.com"}
        client.refused(400, 9, "IN_PROGRESS", "PUT",
                       f"{REGISTRY}/registered_models/{record['registered_model_id']}/model_versions/{version}", record)


def builds_are_made_by_the_client_in_every_form_that_it_sends():
    with herald.folder() as folder, World(folder) as world:
        client, other = world.client, world.second_admin()
        version = int(client.create_version(client.create_model("m")["id"], "v")["id"])
        builds = f"{DEPLOYMENT}/workspace/default/builds"
        made = []
        for sent in ({"model_version_id": version}, {"model_version_id": version, "hardware_compatibility": {"nvidia_gpu": {"T4": True}}},
                     {"external_location": "registry.example.com/m:1", "model_version_id": version},
                     {"external_location": "registry.example.com/m:2", "model_version_id": version, "requires_root": True, "scan_external": True,
                      "self_contained": True, "uses_flask": True, "upstream_url": "http://10.0.0.7:8080/predict"}):
            build = client.must("POST", builds, sent)
            assert build["creator_request"] == sent and isinstance(build["id"], int), build
            for flag in ("requires_root", "scan_external", "self_contained", "uses_flask"):
                assert build[flag] is sent.get(flag, False), build
            assert build["upstream_url"] == sent.get("upstream_url", "") and build["location"] == sent.get("external_location", "")
            assert build["status"] == "finished" if "external_location" in sent else (build["status"], bool(build["message"])) == ("error", True)
            assert client.get(f"{builds}/{build['id']}") == client.get(f"{DEPLOYMENT}/workspace/1/builds/{build['id']}") == build
            made.append(build)
        elsewhere = other.must("POST", f"{DEPLOYMENT}/workspace/second%40example.com/builds", {"model_version_id": version, "external_location": "x"})
        assert other.must("GET", f"{DEPLOYMENT}/builds?model_version_id={version}")["builds"] == [elsewhere, *made[::-1]]
        assert client.must("GET", f"{DEPLOYMENT}/builds?model_version_id={version}")["builds"] == made[::-1], "his workspace is his"
        client.refused(404, 5, "Couldn't find modelVersion", "POST", builds, {"model_version_id": 999})
        client.refused(404, 5, "not found", "POST", builds, {"run_id": "1f"})
        for url in ("ftp://x.example.com", "http://me:secret@example.com", "http://example.com/#a", "http://ex\u00e4mple.com", "x"):
            client.refused(400, 3, "upstream_url", "POST", builds, {"model_version_id": version, "external_location": "x", "upstream_url": url})

        message = f"{DEPLOYMENT}/builds/{made[0]['id']}/message"
        changed = client.must("PUT", message, raw=b'"was \\u00e4 built elsewhere"', headers={"Content-Type": "application/json"})
        assert changed["message"] == "was \u00e4 built elsewhere" and changed["date_updated"] > made[0]["date_updated"]
        assert client.get(f"{builds}/{made[0]['id']}") == changed
        for wrong in (b"{}", b"17", b"null", b"[]", b"", b'"x'):
            answer = client.call("PUT", message, raw=wrong)
            assert (answer.status, answer.json["code"]) == (400, 3), answer
        assert client.call("PUT", f"{DEPLOYMENT}/builds/999/message", raw=b'"x"').status == 404
        assert client.call("PUT", message, raw=b'"' + b"x" * (16 * 1024 + 1) + b'"').status == 400


def builds_tell_of_themselves_when_they_are_made_and_changed():
    with herald.folder() as folder, World(folder) as world:
        client, receiver = world.client, herald.Receiver()
        world.server.client().webhook("builds", receiver.url, ("CREATE", "UPDATE"))
        version = int(client.create_version(client.create_model("m")["id"], "v")["id"])
        build = client.must("POST", f"{DEPLOYMENT}/workspace/default/builds", {"model_version_id": version, "external_location": "x"})
        changed = client.must("PUT", f"{DEPLOYMENT}/builds/{build['id']}/message", raw=b'"copied"')

        def told(kind):
            bodies = [json.loads(delivery.body) for delivery in receiver.of_type(kind)]
            return [body for body in bodies if body["resource_type"] == "BUILD"]
        herald.until(lambda: told("CREATE") and told("UPDATE"), 10, "both are told")
        assert told("CREATE")[0]["updated"] == build and "original" not in told("CREATE")[0]
        assert (told("UPDATE")[0]["original"], told("UPDATE")[0]["updated"]) == (build, changed)
        receiver.stop()


def a_scan_record_is_whole_in_every_answer():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        version = int(client.create_version(client.create_model("m")["id"], "v")["id"])
        build = client.must("POST", f"{DEPLOYMENT}/workspace/default/builds", {"model_version_id": version, "external_location": "x"})["id"]
        scan, read = f"{DEPLOYMENT}/workspace/default/builds/{build}/scan", f"{DEPLOYMENT}/builds/{build}/scan"
        members = {"id", "build_id", "creator_request", "date_created", "date_updated", "scan_status", "safety_status", "scan_external_status",
                   "scan_external_results", "message", "requested_by", "unconfirmed", "history"}

        def same(answer):
            assert set(answer) == members and answer == client.must("GET", read), answer
            assert answer["unconfirmed"] == [] and answer["scan_external_status"] == answer["scan_external_results"]
            return answer

        def report(status, safety=None, url="https://scanner.example.com/1"):
            results = {} if safety is None else {"scan_external_results": {"safety_status": safety, **({"url": url} if url else {})}}
            return {"scan_status": status, **results}
        assert same(client.must("GET", read))["creator_request"] is None
        client.refused(400, 9, "request a scan first", "PUT", scan, report("scanned", "safe"))
        client.refused(400, 9, "request a scan first", "PUT", scan, report("error"))
        lost = same(client.must("POST", scan, {"scan_external": True}))
        assert lost["scan_status"] == "scanning" and "no webhook of the workspace hears REQUEST_SCAN" in lost["message"], lost
        client.must("POST", "/api/v1/uac-proxy/events/createWebhook", {"name": "scanner", "location": f"http://127.0.0.1:{herald.free_port()}/", "event_types": ["REQUEST_SCAN"], "mutual_secret": herald.SECRET})
        first = same(client.must("POST", scan, {"scan_external": True}))
        assert [old["id"] for old in first.pop("history")] == [lost["id"]], "a request that nobody heard is made again at once"
        first["history"] = []
        assert (first["scan_status"], first["safety_status"], first["history"]) == ("scanning", "unknown", []), first
        client.refused(400, 9, "is running", "POST", scan, {"scan_external": True})
        client.refused(400, 3, "safety_status", "PUT", scan, report("scanned"))
        client.refused(400, 3, "scan_status", "PUT", scan, {"scan_external_results": {"safety_status": "safe"}})
        assert same(client.must("PUT", scan, report("error")))["scan_status"] == "error"
        assert same(client.must("PUT", scan, report("scanned", "safe", url="")))["safety_status"] == "safe", "a late report, without a URL"
        client.refused(409, 10, "finished", "PUT", scan, report("scanned", "safe"))
        second = same(client.must("POST", scan, {"scan_external": True}))
        assert [old["id"] for old in second["history"]] == [lost["id"], first["id"]] and second["message"] == ""
        unsafe = same(client.must("PUT", scan, report("scanned", "unsafe")))
        assert same(client.must("PUT", scan, report("scanned", "unsafe"))) == unsafe
        client.refused(409, 10, "finished as unsafe", "PUT", scan, report("scanned", "safe"))
        third = same(client.must("POST", scan, {"scan_external": True}))
        assert "stays ineligible" in third["message"] and len(third["history"]) == 3, third
        assert "stays ineligible" in same(client.must("PUT", scan, report("scanned", "safe")))["message"]

        none = int(client.create_version(client.create_model("n")["id"], "v")["id"])
        told = client.must("POST", f"{REGISTRY}/model_versions/{none}/requestScan", {"scan_external": True})
        assert told["scan_status"] == "unscanned" and "in status error" in told["message"], told
        assert client.must("GET", f"{DEPLOYMENT}/builds?model_version_id={none}")["builds"][0]["id"] == told["build_id"]
        client.must("PUT", f"{DEPLOYMENT}/workspace/default/builds/{told['build_id']}/scan", report("error", "unsafe"))


if __name__ == "__main__":
    herald.run()
