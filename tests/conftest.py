"""Settings shared by all tests."""

from hypothesis import HealthCheck, settings

# Derandomised, so that two runs of the gate give the same answer; no deadline, since machines differ in speed.
settings.register_profile(
    "gate",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("gate")
