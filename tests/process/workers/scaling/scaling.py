"""Property: operators scale workers by lag. A backlog goes as fast with workers that came because of it as with as many from
the start; a worker that is short of CPU makes no receiver wait that is well; a change of the number of workers repeats next
to nothing.

The long form (HERALD_TEST_LONG=1) plays every row of the table; the short one the three that showed the fault.
"""

import concurrent.futures
import contextlib
import os
import time

import autoscaler
import herald

IS_LONG = os.environ.get("HERALD_TEST_LONG") == "1"
REPEATS_MAX = 0.01
KILLED_REPEATS_MAX = 0.02
SESSION_SECONDS = 6  # how long the group waits for a worker that was killed
STARTING_SECONDS = 5  # of workers with a quarter of a core
SLOW_SEEN_SECONDS = 30
TOLD_WITHIN_SECONDS = 2
TOLD_SHARE_MIN = 0.95  # of the looks at the backlog


@contextlib.contextmanager
def _broker():
    """A folder, a broker in it, and quotas."""
    quotas = autoscaler.Quotas()
    with herald.folder() as folder, autoscaler.broker_in(folder) as broker:
        yield folder, broker, quotas


def _played(folder, broker, quotas, name, **wishes):
    outcome = autoscaler.play(folder / name, broker, autoscaler.Row(**wishes), quotas)
    print(outcome.line(), flush=True)
    return outcome


def _must_be_calm(outcome, repeats_max=REPEATS_MAX):
    assert outcome.lost == 0 and outcome.done_seconds is not None, f"{outcome.lost} of {outcome.wanted} are missing: {outcome.line()}"
    assert outcome.repeats <= repeats_max * outcome.wanted, f"{outcome.repeats} of {outcome.wanted} came twice: {outcome.line()}"
    # Several workers, receivers, broker and node may share two cores: then a receiver is slow indeed, and what waits for room in its
    # lane is taken as soon as there is some. Nothing waits for a time.
    waits = outcome.long_waits(outcome.healthy_paths(), autoscaler.TIMED_TOPICS)
    assert waits == 0, f"receivers that are well had to wait: {outcome.put_off}"
    assert all(one.code == 0 for one in outcome.ended), outcome.ended


def _must_scale(folder, broker, quotas, cores, deliveries, kills=False, beside=None):
    """Scaled by lag from one to four, against four from the start. They find the backlog there: release workers keep up with its
    publishing, and nothing would be left to compare."""
    receivers = {"": 8, **(beside or {})}
    name = f"{cores}-{deliveries}-{kills}-{len(receivers)}"
    fixed = _played(folder, broker, quotas, f"fixed-{name}", cores=cores, deliveries=deliveries, least=4, most=4, receivers=receivers,
                    backlog_first=True, watches_metrics=IS_LONG)
    _must_be_calm(fixed)
    scaled = _played(folder, broker, quotas, f"scaled-{name}", cores=cores, deliveries=deliveries, least=1, most=4, receivers=receivers,
                     backlog_first=True, kills=kills, watches_metrics=IS_LONG)
    _must_be_calm(scaled, KILLED_REPEATS_MAX if kills else REPEATS_MAX)
    assert scaled.most_workers > 1, "the backlog was seen"
    # In the short form, what three workers need to start is not little beside the rest.
    within = 1.5 * fixed.done_seconds + (0 if IS_LONG else STARTING_SECONDS) + (SESSION_SECONDS if kills else 0)
    assert scaled.done_seconds <= within, f"{scaled.done_seconds:.1f} s, four from the start {fixed.done_seconds:.1f} s"
    assert scaled.settled_seconds is not None, "the workers were not scaled down again"
    return [fixed, scaled]


def _must_be_told_truly(outcomes):
    """A worker counts once a second, each at another moment; what it hands over meanwhile is counted by neither side, or by both."""
    looks, wrong = sum(len(one.looks) for one in outcomes), []
    for outcome in outcomes:
        for asked, answered, told in outcome.looks:
            least, most = outcome.missing_between(asked - TOLD_WITHIN_SECONDS, answered + TOLD_WITHIN_SECONDS)
            if not least - max(1000, 0.05 * least) <= told <= most + max(1000, 0.05 * most):
                wrong.append(f"{told:.0f} from {asked:.1f} s to {answered:.1f} s, and {least:.0f} to {most:.0f} were missing")
    print(f"of {looks} looks at the backlog {len(wrong)} were told wrongly", flush=True)
    assert looks > 50, "the backlog was looked at"
    assert len(wrong) <= (1 - TOLD_SHARE_MIN) * looks, wrong


@herald.alone
def ops_scale_the_workers_by_lag():
    with _broker() as (folder, broker, quotas):
        print(autoscaler.HEADING)
        if not IS_LONG:
            _must_scale(folder, broker, quotas, 0.25, 20_000)
            return
        outcomes = [one for cores in (0.25, 0.12, 0.06) for one in _must_scale(folder, broker, quotas, cores, 80_000)]
        outcomes += _must_scale(folder, broker, quotas, 0.25, 80_000, kills=True)
        outcomes += _must_scale(folder, broker, quotas, 0.25, 80_000, beside={"hang": 1, "500": 1})
        _must_be_told_truly(outcomes)


def _one_worker(folder, broker, quotas, cores, deliveries, budget):
    """How it delivered, and the share of a core that it uses while it has nothing to do."""
    row = autoscaler.Row(cores=cores, deliveries=deliveries, least=1, most=1, budget=budget)
    with autoscaler.installed(folder, broker, row, quotas) as place:
        worker, begun, before = place.workers.running[0], time.monotonic(), place.workers.running[0].cpu_seconds()
        herald.until(lambda: time.monotonic() - begun > 3, 10, "three idle seconds have passed")
        idle = (worker.cpu_seconds() - before) / (time.monotonic() - begun)
        outcome = autoscaler.Trial(place).run()
        print(outcome.line(), f"idle {idle:.3f} core, {outcome.cpu_seconds:.1f} CPU s", flush=True)
        return outcome, idle


@herald.alone
def a_starved_worker_blames_nobody():
    cores, deliveries = 0.12, 40_000 if IS_LONG else 20_000
    with _broker() as (folder, broker, quotas):
        print(autoscaler.HEADING)
        free, idle = _one_worker(folder / "free", broker, quotas, 0, deliveries, 60)
        _must_be_calm(free)
        a_delivery = free.cpu_of_all / free.wanted
        starved, _ = _one_worker(folder / "starved", broker, quotas, cores, deliveries, 240)
        _must_be_calm(starved)
        assert starved.long_waits() == 0, f"receivers that are well had to wait: {starved.put_off}"
        used = starved.cpu_seconds / starved.done_seconds
        assert used >= 0.9 * cores, f"it used {used:.3f} of {cores} core, and waited for the rest"
        rate, possible = starved.rate, (cores - idle) / a_delivery
        assert rate >= 0.8 * possible, f"{rate:.0f} deliveries a second, {possible:.0f} are possible"


@herald.alone
def a_scale_from_one_to_six_and_back_during_a_burst_repeats_next_to_nothing():
    seconds, rate = (40, 300) if IS_LONG else (12, 300)
    with _broker() as (folder, broker, quotas), concurrent.futures.ThreadPoolExecutor(1) as beside:
        row = autoscaler.Row(cores=0.5, deliveries=seconds * rate * 8, least=1, most=6)
        with autoscaler.installed(folder / "burst", broker, row, quotas) as place:
            begun, published = time.monotonic(), beside.submit(place.publish, row.events, rate)
            for count, after in ((6, seconds / 6), (1, seconds / 2)):
                herald.until(lambda: time.monotonic() - begun > after, seconds, "the burst goes on")
                place.workers.scale_to(count)
            published.result()
            wanted = row.events * len(place.healthy)
            arrived, repeats = place.wait_for(wanted, 60)
            print(f"{arrived} of {wanted} arrived, {repeats} of them twice", flush=True)
            assert arrived == wanted, "none is lost"
            assert repeats < REPEATS_MAX * wanted


@herald.alone
def a_receiver_that_is_slow_is_recognised_however_late_its_worker_is():
    if not IS_LONG:
        raise herald.Unavailable("part of the long form: HERALD_TEST_LONG=1")
    with _broker() as (folder, broker, quotas):
        for name, wishes in (("idle", {"cores": 0, "receivers": {"slow": 1}, "at_least": 2_000}),
                             ("busy", {"cores": 1.0, "receivers": {"": 8, "slow": 1}, "deliveries": 160_000}),
                             ("starved", {"cores": 0.12, "receivers": {"": 8, "slow": 1}, "deliveries": 40_000})):
            outcome = _played(folder, broker, quotas, name, least=1, most=1, budget=SLOW_SEEN_SECONDS, **wishes)
            assert outcome.put_off_of("/0/slow") > 0, f"{name}: {outcome.put_off}"
            assert outcome.long_waits(outcome.healthy_paths()) == 0, f"{name}: {outcome.put_off}"


if __name__ == "__main__":
    herald.run()
