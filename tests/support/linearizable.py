"""Checks histories of concurrent calls for linearizability, as Wing and Gong do it, with Lowe's memory of what was tried:
is there an order of the operations, each at one moment between its call and its answer, in which every answer is right?
An operation without an answer may have taken effect, once, at any moment after its call, or not at all. A history is one
key's: what is true of each key is true of all together. Standard library only."""

import dataclasses
import math
import typing

STEPS_MAX = 2_000_000  # of one search; beyond that nothing is known, and that is no success


@dataclasses.dataclass
class Operation:
    name: str
    argument: typing.Any
    answer: typing.Any  # None where it is unknown
    start: float
    end: float = math.inf  # of those whose outcome is unknown
    by: str = ""

    @property
    def is_known(self):
        return self.end != math.inf

    def __str__(self):
        end = f"{self.end * 1000:.1f}" if self.is_known else "?"
        return f"[{self.start * 1000:.1f} … {end} ms] {self.by} {self.name} {self.argument} -> {self.answer if self.is_known else 'unknown'}"


class Undecided(Exception):
    """The search was given up."""


class _Entry:
    __slots__ = ("index", "answered", "before", "after")

    def __init__(self, index, answered):
        self.index = index
        self.answered = answered  # the entry of the operation's answer; None for that entry itself, and for unknown outcomes
        self.before = self.after = None

    def unlink(self):
        self.before.after = self.after
        if self.after:
            self.after.before = self.before

    def link(self):
        self.before.after = self
        if self.after:
            self.after.before = self


def _entries(operations):
    """All calls and answers in the order of time, behind a head; a call before an answer of the same moment."""
    moments = []
    for index, operation in enumerate(operations):
        answered = _Entry(index, None) if operation.is_known else None
        moments.append((operation.start, 0, index, _Entry(index, answered)))
        if answered:
            moments.append((operation.end, 1, index, answered))
    head = last = _Entry(-1, None)
    for *_, entry in sorted(moments, key=lambda moment: moment[:3]):
        last.after, entry.before = entry, last
        last = entry
    return head, {id(moment[3]) for moment in moments if moment[1] == 0}


def violation(operations, start, step, steps_max=STEPS_MAX):
    """None where the history is linearizable, else the operations about the place that no order comes past.
    `step(state, operation)` gives the state after the operation, or None where its answer is not that state's; an operation
    whose outcome is unknown has any answer. States can be hashed, and are not None."""
    head, calls = _entries(operations)
    state, done = start, 0
    tried, stack, steps = set(), [], 0
    longest = -1
    entry = head.after
    while entry is not None:
        steps += 1
        if steps > steps_max:
            raise Undecided(f"{len(operations)} operations: not decided within {steps_max} steps")
        if id(entry) in calls:
            after = step(state, operations[entry.index])
            mark = (done | 1 << entry.index, after)
            if after is not None and mark not in tried:
                tried.add(mark)
                stack.append((entry, state, done))
                done, state = mark
                entry.unlink()
                if entry.answered:
                    entry.answered.unlink()
                entry = head.after
            else:
                entry = entry.after
        else:  # an answer of what has not yet taken effect: something before was wrong
            longest = max(longest, entry.index, key=lambda index: operations[index].end if index >= 0 else -1)
            if not stack:
                return around(operations, operations[longest])
            entry, state, done = stack.pop()
            if entry.answered:
                entry.answered.link()
            entry.link()
            entry = entry.after
    return None


def around(operations, one, count=12):
    """Those that were under way or over just before the answer of `one`."""
    earlier = sorted((each for each in operations if each.start <= one.end), key=lambda each: each.start)
    return earlier[-count:]
