"""Images of sessions in the keeper, also with sanitizers: interpreters start cold, so the tests are few."""


def value(service, session, code):
    reply = service.post(f"/v1/sessions/{session}/exec", {"code": code})
    assert reply.status == 200 and reply.json["status"] == "ok", reply
    return reply.json["result"]["text/plain"] if reply.json["result"] else None


def test_forks_leave_the_keeper_as_it_was(start_service):
    s = start_service("--set", "pools.max=0")
    keeper = s.half("keeper").pid
    reply = s.post("/v1/sessions", {"language": "python"})
    assert reply.status == 201, reply
    original = reply.json["id"]
    value(s, original, "x = 5")
    reply = s.post(f"/v1/sessions/{original}/fork", {"count": 2})
    assert reply.status == 201, reply
    for copy in reply.json["sessions"]:
        assert value(s, copy["id"], "x") == "5"
        assert s.delete(f"/v1/sessions/{copy['id']}").status == 200
    assert s.post(f"/v1/sessions/{original}/fork", {"count": 300}).status == 400
    assert value(s, original, "x") == "5"
    assert s.half("keeper").pid == keeper, "the keeper died, and another one took over"
