//! Turns two array specs and a budget into a plan, its cost and its explanation. Pure.
