"""Property: on a real Kafka, with API nodes and workers as processes of their own, the main job is the same, and a client
behind a load balancer never misses its own writes."""

import json

import herald


def on_kafka(test):
    with herald.folder() as folder:
        broker = herald.Broker(folder)
        try:
            cluster = herald.Cluster(folder, broker)
            test(cluster)
            cluster.agree()
            cluster.stop()
        finally:
            broker.stop()


def the_main_job_works_across_nodes_and_processes():
    def job(cluster):
        receiver = herald.Receiver()
        one, other = cluster.client(0), cluster.client(1)
        one.webhook("w", receiver.url)
        approver = one.second_admin()
        approver.port = cluster.ports[1]
        version = one.version(other.model("m"), "v")
        transition = other.stage("create", {"model_version_id": version, "desired_stage": "PRODUCTION"})["id"]
        approver.stage("approve", {"transition_id": transition})
        one.stage("commit", {"transition_id": transition})
        receiver.wait_for(1)
        body = json.loads(receiver.deliveries[0].body)
        other.must("PUT", f"/api/v1/registry/registered_models/{body['registered_model_id']}/model_versions/{version}",
                   {**body, "redirect_metadata": "https://serving.example.com"})
        assert one.must("GET", f"/api/v1/registry/model_versions/{version}/promotion")["status"] == "COMPLETE"
        build = one.must("POST", "/api/v1/deployment/workspace/default/builds",
                         {"model_version_id": int(version), "external_location": "registry.example.com/m:1"})["id"]
        other.must("POST", f"/api/v1/deployment/workspace/default/builds/{build}/scan", {"scan_external": True})
        receiver.wait_for(1, "REQUEST_SCAN")
        assert all(one.verified for one in receiver.deliveries)
        assert other.must("POST", "/api/v1/uac-proxy/events/triggerTest", {"webhook_id": 1}) == {"status_code": 200}
        receiver.stop()
    on_kafka(job)


def a_write_through_one_node_is_read_through_another_at_once():
    def job(cluster):
        clients = [cluster.client(0), cluster.client(1)]
        model = clients[0].model("m")
        for number in range(200):
            version = clients[number % 2].version(model, f"v{number}")
            answer = clients[(number + 1) % 2].call("GET", f"/api/v1/registry/model_versions/{version}")
            assert answer.status == 200, f"version {version} was written through one node and not seen through the other: {answer}"
            assert "svc-registry-stale" not in answer.headers
    on_kafka(job)


def a_user_made_through_one_node_writes_through_another_at_once():
    def job(cluster):
        clients = [cluster.client(0), cluster.client(1)]
        for number in range(100):
            email = f"user{number}@example.com"
            user, _ = clients[number % 2].user(email)
            user.port = cluster.ports[(number + 1) % 2]
            made = user.call("POST", f"/api/v1/registry/workspaces/{email}/registered_models", {"name": "m"})
            assert made.status == 200, f"the user was made through one node, and the other answered {made}"
            user.close()
    on_kafka(job)


def a_repeat_through_another_node_gives_the_same_answer():
    def job(cluster):
        create = ("POST", "/api/v1/uac-proxy/uac/createUser", {"info": {"email": "b@example.com"}}, {"Idempotency-Key": "k"})
        first, second = cluster.client(0).call(*create), cluster.client(1).call(*create)
        assert first.status == 200 and first.body == second.body, (first, second)
    on_kafka(job)


if __name__ == "__main__":
    herald.run(the_main_job_works_across_nodes_and_processes, a_write_through_one_node_is_read_through_another_at_once,
               a_user_made_through_one_node_writes_through_another_at_once, a_repeat_through_another_node_gives_the_same_answer)
