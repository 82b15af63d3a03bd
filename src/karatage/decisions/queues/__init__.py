"""Queues: where runs, judgments so far, orders and prices meet."""
