"""The life of a job: registry, scheduler, launcher, monitor, recorder, logs."""
