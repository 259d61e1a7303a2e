"""Planning functions of rechunker, by the golden values."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest
from conftest import ROOT
from rechunk.compat.rechunker import algorithm

GOLDEN = ROOT / "fixtures/golden"


def cases(file: str, kind: str | None = None) -> list[dict[str, Any]]:
    found = json.loads((GOLDEN / file).read_text())["cases"]
    return [case for case in found if kind is None or case["kind"] == kind]


def tuples(value: Any) -> Any:
    return tuple(map(tuples, value)) if isinstance(value, list) else value


def test_consolidate_chunks() -> None:
    found = cases("push_pull_cases.json", "consolidate_chunks")
    assert len(found) > 20
    for case in found:
        given = (case["shape"], case["chunks"], case["itemsize"], case["max_mem"], case["chunk_limits"])
        if case.get("error"):
            with pytest.raises(ValueError):
                algorithm.consolidate_chunks(*given)
        else:
            assert algorithm.consolidate_chunks(*given) == tuples(case["expected"]), case["id"]


def test_stage_chunks_and_operations() -> None:
    for case in cases("push_pull_cases.json", "calculate_stage_chunks"):
        found = algorithm.calculate_stage_chunks(
            case["read_chunks"], case["write_chunks"], case["stage_count"]
        )
        assert found in (list(tuples(case[name])) for name in case if name.startswith("e")), case["id"]
    for case in cases("push_pull_cases.json", "calculate_single_stage_io_ops"):
        found_ops = algorithm.calculate_single_stage_io_ops(
            case["shape"], case["in_chunks"], case["out_chunks"]
        )
        assert found_ops == case["expected"], case["id"]


def test_plans_of_several_stages() -> None:
    for case in cases("multistage_cases.json"):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            found = algorithm.multistage_rechunking_plan(
                case["shape"],
                case["source_chunks"],
                case["target_chunks"],
                case["itemsize"],
                case["min_mem"],
                case["max_mem"],
                case["consolidate_reads"],
                case["consolidate_writes"],
            )
        assert found == list(tuples(case.get("exact_root_plan", case["plan"]))), case["id"]
        expected = case.get("exact_root_warning", case["excessive_io_warning"])
        assert [w.category for w in warned] == [algorithm.ExcessiveIOWarning] * expected, case["id"]


def test_refusals_are_those_of_rechunker(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"Source chunk memory \(160\) exceeds max_mem \(100\)"):
        algorithm.rechunking_plan((100,), (40,), (10,), 4, 100)
    with pytest.raises(ValueError, match=r"must have length 2"):
        algorithm.rechunking_plan((8, 8), (1, 8), (8,), 4, 100)
    with pytest.raises(ValueError, match="cannot be smaller than min_mem"):
        algorithm.multistage_rechunking_plan((100, 100), (100, 1), (1, 100), 1, 101, 100)
    with pytest.raises(ValueError, match=r"Invalid chunk_limits \(-2, 2\)"):
        algorithm.consolidate_chunks((8, 8), (1, 2), 4, 8, (-2, 2))
    monkeypatch.setattr(algorithm, "MAX_STAGES", 1)
    with pytest.raises(AssertionError, match="Failed to find a feasible"):
        algorithm.multistage_rechunking_plan((100, 100), (100, 1), (1, 100), 1, 10, 100)
