"""Tests with a real service, at the address and with the key in RAS_API_URL and RAS_API_KEY."""

from datetime import datetime, timedelta, timezone

import pytest

from routine_automation import BadRequestError, NotFoundError, Ras, TimeoutError, data
from routine_automation.generated.api.models import list_models
from routine_automation.generated.api.routines import list_routines
from routine_automation.generated.api.runs import list_runs
from routine_automation.generated.models import (
    CreateRoutine,
    CreateRoutineBudget,
    ListRunsState,
    ModelReference,
    ModelReferenceProvider,
    RunRoutineBody,
)


def routine(name: str, model_id: str = "fixture/writer-small") -> CreateRoutine:
    model = ModelReference(provider=ModelReferenceProvider.GATEWAY, model_id=model_id, connection_id=None)
    return CreateRoutine(name=name, instructions="Write one line.", schedule="0 7 * * *", model=model)


def test_a_routine_is_created_run_and_waited_for() -> None:
    with Ras() as ras:
        created = ras.create_routine(routine("From the SDK"))
        run = ras.wait(ras.run_routine(created.id).id, timeout=120)
        assert run.state.value == "succeeded"
        assert run.result
        assert ras.read_run(run.id).id == run.id
        assert ras.read_routine(created.id).activation.ready


def test_a_list_is_read_over_its_pages() -> None:
    ras = Ras()
    ids = [ras.create_routine(routine(f"Page {number}")).id for number in range(5)]
    pages = ras.pages(list_routines.sync, limit=2)
    assert [each.id for each in next(pages)] == [ids[4], ids[3]]
    assert [each.id for each in next(pages)] == [ids[2], ids[1]]
    assert [each.id for each in ras.items(list_routines.sync, limit=2)][:5] == ids[::-1]
    assert list(ras.items(list_runs.sync, state=ListRunsState.CANCELLED)) == []


def test_errors_are_typed_and_name_every_field() -> None:
    ras = Ras()
    with pytest.raises(NotFoundError) as missing:
        ras.read_run("run_01kx3k9y6wfd8r0v5m2c7t4q5d")
    assert (missing.value.status, missing.value.code, missing.value.param) == (404, "run_not_found", None)
    assert missing.value.request_id
    body = routine("", model_id="fixture/writer-small")
    body.schedule = "61 * * * *"
    body.budget = CreateRoutineBudget(max_tokens_per_day=-1)
    with pytest.raises(BadRequestError) as wrong:
        ras.create_routine(body)
    assert wrong.value.param in {"name", "budget.maxTokensPerDay"}
    assert {each.param for each in wrong.value.details} >= {"name", "budget.maxTokensPerDay"}


def test_a_wait_ends_when_its_time_is_over() -> None:
    ras = Ras()
    later = datetime.now(timezone.utc) + timedelta(hours=1)
    run = ras.run_routine(ras.create_routine(routine("Later")).id, RunRoutineBody(run_at=later))
    with pytest.raises(TimeoutError):
        ras.wait(run.id, timeout=0)


def test_any_operation_can_be_called() -> None:
    models = data(list_models.sync(client=Ras().client))
    assert "fixture/writer-small" in {model.model_id for model in models}
