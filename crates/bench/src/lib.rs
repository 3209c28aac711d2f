//! Measurements of our own budgets, as ratios within one run.

pub mod books;
pub mod samples;
