"""Writes fixtures/golden/multistage_cases.json: random cases of three stages and more, with rechunker's plans.

    python tests/tools/multistage_fixture.py PATH/rechunker/algorithm.py > fixtures/golden/multistage_cases.json

Needs the file of rechunker 0.5.4 and NumPy. `plan` is rechunker's own. Where it has an extent that its rounding
makes one less than the geometric mean, which is a whole number there, `exact_root_plan` is the plan with exact roots.
"""

import importlib.util
import json
import math
import random
import sys
import types
import warnings

CASES = {3: 120, 4: 80, 5: 40}  # by stages; 5: five and more


def load(path):
    compat = types.ModuleType("rechunker.compat")
    compat.lcm, compat.prod = math.lcm, math.prod
    sys.modules["rechunker"] = types.ModuleType("rechunker")
    sys.modules["rechunker.compat"] = compat
    spec = importlib.util.spec_from_file_location("algorithm", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


algorithm = load(sys.argv[1])
rounded = algorithm.calculate_stage_chunks


def root(start, stop, step, steps):
    low, high = min(start, stop), max(start, stop)
    bound = start ** (steps - step) * stop**step
    while low < high:
        middle = low + (high - low + 1) // 2
        low, high = (low, middle - 1) if middle**steps > bound else (middle, high)
    return low


def exact(read, write, stage_count=1):
    steps = range(1, stage_count)
    return [tuple(root(a, b, step, stage_count) for a, b in zip(read, write)) for step in steps]


def is_whole(read, write, stage_count, step, axis):
    value = root(read[axis], write[axis], step, stage_count)
    return value**stage_count == read[axis] ** (stage_count - step) * write[axis] ** step


def check_rounding(read, write, stage_count):
    """Rechunker's rounding differs from exact roots by one, and only where the root is a whole number."""
    pairs = zip(rounded(read, write, stage_count), exact(read, write, stage_count))
    for step, (theirs, ours) in enumerate(pairs, 1):
        for axis, (a, b) in enumerate(zip(theirs, ours)):
            assert a == b or a == b - 1 and is_whole(read, write, stage_count, step, axis), (read, write, stage_count)


def plan_of(case, stages):
    algorithm.calculate_stage_chunks = stages
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plan = algorithm.multistage_rechunking_plan(**case)
    warned = any(issubclass(warning.category, algorithm.ExcessiveIOWarning) for warning in caught)
    return [[[int(extent) for extent in shape] for shape in stage] for stage in plan], warned


def random_case(of):
    shape, source, target = [], [], []
    for _ in range(of.choice([1, 2, 2, 3, 3, 4])):
        extent = int(10 ** of.uniform(0.5, 5))
        chunk = lambda: min(extent, int(extent ** of.random()) if of.random() < 0.7 else of.choice([1, extent]))
        shape.append(extent)
        source.append(chunk())
        target.append(chunk())
    itemsize = of.choice([1, 2, 4, 8, 16])
    max_mem = int(max(math.prod(source), math.prod(target)) * itemsize * 10 ** of.uniform(0, 2))
    min_mem = max(1, int(max_mem * 10 ** of.uniform(-3, -0.1)))
    flags = [of.random() < 0.8 for _ in range(2)]
    return {
        "shape": shape, "source_chunks": source, "target_chunks": target, "itemsize": itemsize,
        "min_mem": min_mem, "max_mem": max_mem, "consolidate_reads": flags[0], "consolidate_writes": flags[1],
    }  # fmt: skip


of, left, cases = random.Random(20261128), dict(CASES), []
while any(left.values()):
    case = random_case(of)
    plan, warned = plan_of(case, rounded)
    stages = min(len(plan), 5)
    if not left.get(stages):
        continue
    left[stages] -= 1
    for count in range(2, len(plan) + 2):
        check_rounding(plan[0][0], plan[-1][2], count)
    answer = {"plan": plan, "excessive_io_warning": warned}
    with_roots = plan_of(case, exact)
    if with_roots != (plan, warned):
        answer |= {"exact_root_plan": with_roots[0], "exact_root_warning": with_roots[1]}
    cases.append({"id": f"stages-{len(cases):03}", **case, **answer})

print('{"cases": [')
print(",\n".join(json.dumps(case, separators=(",", ":")) for case in cases))
print("]}")
