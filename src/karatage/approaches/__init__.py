"""Approaches by name, and `evaluate`: the only place where the stages meet.

An approach turns judgments into one score per topic and system. A model that merges grades becomes one by its entry in
`aggregation.registry.MODELS`, an estimator of judges' weights by its entry in `merging.estimators`; for any other,
write a function from `Evidence` to scores and enter it in `registry.APPROACHES`.
"""
