"""Planning: what lives at the same time lies at different places, and what is dead is used again."""

import random

import numpy as np

from gradspec.compiler.execute.low_level_ir import Blocks, Loop, Slot, Step
from gradspec.compiler.lowering.buffer_assignment import Lifetimes, assign_buffers, insert_frees

F = np.dtype("float64")


def random_steps(seed, count=60):
    """Loops over slots of several sizes, each of which reads what is there already, in groups of blocks now and then."""
    rng = random.Random(seed)
    slots = [Slot("external", F, (size,), (8,)) for size in (8, 16, 1000)]
    steps = []
    for _ in range(count):
        size = rng.choice([8, 16, 1000])
        same = [place for place, slot in enumerate(slots) if slot.shape == (size,)]
        for _ in range(rng.choice([1, 1, 3])):
            reads = (rng.choice(same[-4:]), rng.choice(same[-4:]))
            slots.append(Slot("planned", F, (size,), (8,)))
            out = len(slots) - 1
            steps.append(Step("loop", Loop("add", 1, (*reads, out), (8, 8, 8), size), "add", None, reads, (out,)))
            same.append(out)
    return slots, steps


def test_what_lives_at_the_same_time_does_not_overlap():
    for seed in range(60):
        slots, steps = random_steps(seed)
        lives = Lifetimes(slots, steps)
        memory, _ = assign_buffers(slots, steps, lives)
        first, last = lives.first, lives.last
        ours = [place for place, slot in enumerate(slots) if slot.place == "planned"]
        for a in ours:
            assert slots[a].offset + slots[a].bytes <= memory and slots[a].offset % 64 == 0
            for b in ours:
                apart = slots[a].offset + slots[a].bytes <= slots[b].offset or slots[b].offset + slots[b].bytes <= slots[a].offset
                if a < b and not apart:
                    assert last[a] <= first[b], (seed, a, b)
                    if last[a] == first[b]:  # a result in the very place of an operand that dies
                        assert slots[a].offset == slots[b].offset and slots[a].bytes == slots[b].bytes


def test_memory_is_used_again():
    slots, steps = [Slot("external", F, (1000,), (8,))], []
    for place in range(100):
        slots.append(Slot("planned", F, (1000,), (8,)))
        steps.append(Step("loop", Loop("exp", 1, (place, place + 1), (8, 8), 1000), "exp", None, (place,), (place + 1,)))
    assert assign_buffers(slots, steps, Lifetimes(slots, steps))[0] == slots[1].bytes


def test_little_more_is_planned_than_lives_at_once():
    """Holes side by side are one, and the last one grows: what is planned is near to what cannot be done without."""
    planned_bytes, needed = 0, 0
    for seed in range(60):
        slots, steps = random_steps(seed)
        lives = Lifetimes(slots, steps)
        planned_bytes += assign_buffers(slots, steps, lives)[0]
        ours = [place for place, slot in enumerate(slots) if slot.place == "planned"]
        first, last = lives.first, lives.last
        needed += max(sum(slots[a].bytes for a in ours if first[a] < number <= last[a]) for number in range(len(steps)))
    assert needed <= planned_bytes <= 1.05 * needed


def test_something_small_leaves_room_for_something_large():
    """The second of three large things would lie behind something small that lies where the first one was."""
    slots = [Slot("planned", F, (size,), (8,)) for size in (1000, 1000, 8, 1000)]
    steps = [Step("call", (), "a", None, (), (0,)), Step("call", (), "b", None, (0,), (1,)), Step("call", (), "c", None, (1,), (2,)),
             Step("call", (), "d", None, (1,), (3,)), Step("call", (), "e", None, (2, 3), ())]  # fmt: skip
    assert assign_buffers(slots, steps, Lifetimes(slots, steps))[0] == 2 * slots[0].bytes + slots[2].bytes
    assert slots[0].offset == slots[3].offset != slots[1].offset


def test_a_result_by_rows_lies_in_the_place_of_its_operand():
    slots = [Slot("planned", F, (4, 8), (64, 8)), Slot("external", F, (8,), (8,)), Slot("planned", F, (4, 8), (64, 8))]
    rows = Loop("add", 1, (0, 1, 2), (8, 8, 8), 8, 4, (64, 0, 64))
    steps = [Step("loop", Loop("exp", 1, (1, 0), (8, 8), 32), "exp", None, (1,), (0,)), Step("rows", rows, "add", None, (0, 1), (2,)),
             Step("call", (), "sum", None, (2,), ())]  # fmt: skip
    assert assign_buffers(slots, steps, Lifetimes(slots, steps))[0] == slots[0].bytes


def test_what_operators_made_is_let_go_behind_its_last_use():
    slots = [Slot("called", F, (3,), (8,)) for _ in range(3)]
    steps = [Step("call", (), "a", None, (), (0,)), Step("call", (), "b", None, (0,), (1,)), Step("call", (), "c", None, (0, 1), (2,))]
    kinds = [(step.kind, step.given) for step in insert_frees(slots, steps, (2,), Lifetimes(slots, steps))]
    assert [kind for kind, _ in kinds] == ["call", "call", "call", "free", "free"]
    assert {given for kind, given in kinds if kind == "free"} == {(0,), (1,)}


def grouped(steps, seed):
    """The steps with some runs of loops of one size as groups of blocks."""
    rng = random.Random(seed)
    found, place = [], 0
    while place < len(steps):
        count = 1
        while place + count < len(steps) and steps[place + count].given.size == steps[place].given.size and count < 5:
            count += 1
        if count > 1 and rng.random() < 0.8:
            found.append(Step("blocks", Blocks(count, steps[place].given.size, 0), "blocks", None))
        found += steps[place : place + count]
        place += count
    return found


def test_planned_memory_run_block_by_block_holds_what_each_value_is():
    """Each loop adds its operands, and is run in memory as planned, and with an array for each value."""
    shared = 0
    for seed in range(80):
        slots, steps = random_steps(seed)
        steps = grouped(steps, seed)
        memory = np.zeros(assign_buffers(slots, steps, Lifetimes(slots, steps))[0], np.uint8)
        rng = np.random.default_rng(seed)
        alone = [rng.normal(size=slot.shape) for slot in slots]
        kept = [alone[place] if slot.place == "external" else np.ndarray(slot.shape, F, memory, slot.offset)
                for place, slot in enumerate(slots)]  # fmt: skip
        number = 0
        while number < len(steps):
            loops = [steps[number]]
            if steps[number].kind == "blocks":
                loops = steps[number + 1 : number + 1 + steps[number].given[0]]
                shared += any(slots[a.writes[0]].offset == slots[b.writes[0]].offset for a in loops for b in loops if a is not b)
                number += len(loops)
            number += 1
            for loop in loops:
                alone[loop.writes[0]] = alone[loop.reads[0]] + alone[loop.reads[1]]
            step = 3 if len(loops) > 1 else loops[0].given.size
            for start in range(0, loops[0].given.size, step):
                block = slice(start, start + step)
                for loop in loops:
                    kept[loop.writes[0]][block] = kept[loop.reads[0]][block] + kept[loop.reads[1]][block]
                    assert kept[loop.writes[0]][block].tolist() == alone[loop.writes[0]][block].tolist(), (seed, number)
    assert shared > 20
