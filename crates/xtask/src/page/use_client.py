"""Starts a run with the generated client, reads it back, and answers with an error if anything is not as documented."""

import os

from made import AuthenticatedClient
from made.api.runs import run as show, runs as runs_, start_run
from made.models import StartRunBody

client = AuthenticatedClient(base_url=os.environ["BOSUN_URL"], token=os.environ["BOSUN_TOKEN"])
wanted = StartRunBody(
    project=os.environ["BOSUN_PROJECT"],
    goal="Write hello to greeting.txt and bye to farewell.txt",
    script=os.environ["BOSUN_SCRIPT"],
)
reply = start_run.sync_detailed(client=client, body=wanted, idempotency_key="client-1")
assert reply.status_code == 201, reply.content
again = start_run.sync_detailed(client=client, body=wanted, idempotency_key="client-1")
assert again.status_code == 200 and again.parsed.run == reply.parsed.run, again.content
detail = show.sync(reply.parsed.run, client=client)
assert detail.view.run == reply.parsed.run, detail
listed = runs_.sync(client=client, project=os.environ["BOSUN_PROJECT"])
assert reply.parsed.run in [item.run for item in listed.items], listed
missing = show.sync_detailed("r_nothing", client=client)
assert missing.status_code == 404 and missing.parsed.request_id, missing.content
print("the generated client started", reply.parsed.run)
