"""Work that is twice as large takes about twice as many calls of Python and C functions: nothing searches all of it for each part."""

import sys

from benchmarks import growth
from tests.asked import each

# The number of elements does not change the number of calls.
WORKS = [work for work in growth.WORKS if work is not growth.elements]


def calls(step):
    count = 0

    def counted(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        step()
    finally:
        sys.setprofile(None)
    return count


@each("work", WORKS, ids=lambda work: work.__name__)
def test_twice_the_work_takes_twice_the_calls(work):
    found = []
    for size in (400, 800):
        step = work(size)
        step()
        found.append(calls(step))
    assert found[1] < 2.2 * found[0] + 100, found
