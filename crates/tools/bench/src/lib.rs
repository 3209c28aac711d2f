//! Measurements of our performance budgets, as ratios within one run.

pub mod chat;
pub mod http;
pub mod ledger_fixture;
pub mod load;
pub mod nginx;
pub mod process;
pub mod protocols;
pub mod quota;
pub mod samples;
pub mod service;
pub mod upstream;

// Benchmarks use the allocator of the released program.
use allocator as _;
