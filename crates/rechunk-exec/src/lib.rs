//! Runs a plan within its budget, resumably, and reports what happened.
