"""Creates a routine, runs it and reads the run, by the client that openapi-python-client made."""

import os
import sys

from ras_generated.api.routines import create_routine, list_routines
from ras_generated.api.runs import read_run, run_routine
from ras_generated.client import AuthenticatedClient
from ras_generated.models import (
    CreateRoutine,
    Failure,
    GateInput,
    ListRoutinesPage,
    ModelReference,
    ModelReferenceProvider,
    RunRoutineBody,
)

client = AuthenticatedClient(base_url=os.environ["RAS_API_URL"], token=os.environ["RAS_API_KEY"])
model = ModelReference(provider=ModelReferenceProvider.GATEWAY, model_id="fixture/writer-small", connection_id=None)
body = CreateRoutine(
    name="From Python",
    instructions="Write one line.",
    schedule="0 7 * * *",
    model=model,
    gate=GateInput(url="https://example.com/feed.json"),
)

created = create_routine.sync(client=client, body=body)
if created is None or isinstance(created, Failure):
    sys.exit(f"not created: {created}")
begun = run_routine.sync(created.data.id, client=client, body=RunRoutineBody())
if begun is None or isinstance(begun, Failure):
    sys.exit(f"not begun: {begun}")
read = read_run.sync(begun.data.id, client=client, prefer="wait=50")
# A slow machine may need several waits.
while read is not None and not isinstance(read, Failure) and read.data.finished_at is None:
    read = read_run.sync(begun.data.id, client=client, prefer="wait=50")
if read is None or isinstance(read, Failure):
    sys.exit(f"not read: {read}")
page = list_routines.sync(client=client, limit=1, page=ListRoutinesPage.BODY)
if page is None or isinstance(page, Failure) or not page.page:
    sys.exit(f"not listed: {page}")
missing = read_run.sync("run_01kx3k9y6wfd8r0v5m2c7t4q5d", client=client)
if not isinstance(missing, Failure):
    sys.exit(f"no failure: {missing}")
print(read.data.state.value, page.data[0].name, missing.error.code)
