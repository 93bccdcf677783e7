"""Property: what is asked of endpoints is refused for what is wrong in it, with the bounds that README names, and not before it is
known that the caller may ask; their list comes in pages."""

import urllib.parse

import herald
import serving

ENDPOINTS = f"{serving.DEPLOYMENT}/endpoints"


def _refused(answer, status, text):
    assert answer.status == status and text in answer.json["message"], (text, answer)


def a_missing_choice_is_answered_with_all_choices():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        stage = serving.Stage(client, "/e")
        _refused(client.call("PUT", f"{stage.place}/update", {"build_id": 1}), 400, "strategy is missing; it must be one of rollout canary")
        _refused(client.call("POST", "/api/v1/uac-proxy/events/setWebhookStatus", {"webhook_id": 1}), 400,
                 "status is missing; it must be one of ENABLED DISABLED")
        assert server.stop() == 0


if __name__ == "__main__":
    herald.run()
