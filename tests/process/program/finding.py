"""Property: searches through many rows hold up nobody: other users' searches, writes and the same user's light lists go on
meanwhile; pages by token are true while rows come and go; answers of any size come whole."""

import concurrent.futures
import threading

import herald

REGISTRY = "/api/v1/registry"
FIND = f"{REGISTRY}/model_versions/find"
COUNT = 1_000
TEXT = "lorem ipsum " * 850  # 10 KB: a search that reads all of them takes many slices


def filled(server):
    """A model with COUNT large versions; its id and theirs, in the order of creation."""
    client = server.client()
    model = client.model("m")
    path = f"{REGISTRY}/registered_models/{model}/model_versions"

    def make(part):
        own = server.client()
        made = [own.must("POST", path, {"version": f"v{number}", "description": TEXT})["model_version"]["id"]
                for number in range(part, COUNT, 8)]
        own.close()
        return made

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return model, sorted((identity for part in pool.map(make, range(8)) for identity in part), key=int)


def heavy(text):
    """No index helps here."""
    return {"predicates": [{"key": "description", "value": text, "operator": 6}], "pagination": {"page_number": 1, "page_limit": 1}}


class Callers:
    """Calls in threads until told to stop; fails with the first of them."""

    def __init__(self):
        self.is_over = threading.Event()
        self.pool = concurrent.futures.ThreadPoolExecutor(32)
        self.running = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.pool.shutdown()

    def start(self, client, *call):
        def run():
            times = 0
            while not self.is_over.is_set():
                client.must(*call)
                times += 1
            return times

        self.running.append(self.pool.submit(run))

    def stop(self):
        """How often each was answered."""
        self.is_over.set()
        return [each.result() for each in self.running]


@herald.computes
def a_heavy_search_holds_up_neither_others_nor_the_same_users_light_lists():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        filled(server)
        client = server.client()
        groups = client.must("GET", "/api/v2/uac-proxy/organization/1/groups")["groups"]
        admins = next(group["id"] for group in groups if group["name"] == "Admins")
        others = []
        for name in ("b", "c"):
            other, identity = client.user(f"{name}@example.com")
            client.must("POST", f"/api/v2/uac-proxy/organization/1/groups/{admins}/users", {"user_id": [identity]})
            others.append(other)
        with Callers() as callers:
            for _ in range(5):  # more than there are threads for them
                callers.start(server.client(), "POST", FIND, heavy("nowhere"))
            for _ in range(5):
                for other in others:
                    found = other.must("POST", FIND, heavy("ipsum"))
                    assert found["total_records"] == str(COUNT) and len(found["model_versions"]) == 1, found["total_records"]
                for path in ("/api/v1/uac-proxy/workspace/getVisibleWorkspaces", "/api/v2/uac-proxy/organization/1/users",
                             f"{REGISTRY}/registered_models/count?workspace_name=default", "/api/v1/uac-proxy/audit?page_limit=3"):
                    assert client.call("GET", path).status == 200, path
                assert client.must("POST", FIND, {"pagination": {"page_number": 1, "page_limit": 5}})["total_records"] == str(COUNT)
                client.must("POST", f"{REGISTRY}/stage/findTransitions", {"waiting_for_me": True})
                client.must("PATCH", f"{REGISTRY}/registered_models/1", {"labels": ["l"]})
            assert all(times > 0 for times in callers.stop()), "each search of the one user had its turn"
        server.stop()


@herald.computes
def a_token_leads_to_each_row_that_stays_exactly_once_while_others_come_and_go():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        model, there = filled(server)
        path = f"{REGISTRY}/registered_models/{model}/model_versions"
        is_over = threading.Event()

        def come_and_go():
            own, times = server.client(), 0
            while not is_over.is_set():
                made = own.version(model, f"a{times}")
                own.version(model, f"w{times}")
                own.must("DELETE", f"{REGISTRY}/model_versions/{made}")
                times += 1
            return times

        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            busy = pool.submit(come_and_go)
            try:
                client = server.client()
                for key in ("time_created", "time_updated", "version"):
                    for ascending in (True, False):
                        seen, token = [], ""
                        while not seen or token:
                            page = client.must("POST", f"{path}/find", {
                                "sort_key": key, "ascending": ascending, "pagination": {"page_limit": 90, "page_token": token}})
                            seen += [each["id"] for each in page["model_versions"]]
                            token = page["next_page_token"]
                            assert int(page["total_records"]) >= COUNT, page["total_records"]
                        assert len(seen) == len(set(seen)), f"{key}: some came twice"
                        assert set(there) <= set(seen), f"{key}: {len(set(there) - set(seen))} did not come"
            finally:
                is_over.set()
            assert busy.result() > 10
        server.stop()


@herald.computes
def answers_of_any_size_come_whole_and_in_bounded_memory():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        _, there = filled(server)
        whole = server.client().call("POST", FIND, {"ascending": True, "sort_key": "time_created"})
        assert whole.status == 200 and len(whole.body) > COUNT * len(TEXT), whole
        assert [each["id"] for each in whole.json["model_versions"]] == there
        assert all(each["description"] == TEXT for each in whole.json["model_versions"])

        # Who does not read: the answers of all of them together would be 200 MB.
        before, waiting = server.highest_memory_kib(), []
        for _ in range(20):
            client = server.client()
            client.call("GET", "/healthz")
            client.connection.request("POST", FIND, b"{}", client.headers)
            waiting.append(client)
        herald.until(lambda: server.client().must("POST", FIND, heavy("nowhere")), 30, "others are answered")
        after = server.highest_memory_kib()
        assert after - before < 100_000, f"{before} KiB, then {after}"
        for client in waiting:
            client.close()
        server.stop()


if __name__ == "__main__":
    herald.run()
