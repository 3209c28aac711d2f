//! The HTTP tests live in `tests/it`.
