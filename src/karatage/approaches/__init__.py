"""Approaches by name, and `evaluate`: the only place where the stages meet.

An approach turns judgments into one score per topic and system. A model in `aggregation.registry.MODELS`, which merges
grades, is one, and so is an estimator of judges' weights in `merging.estimators`. For any other, write a function from
`Evidence` to scores and enter it in `registry.PLAIN`.
"""
