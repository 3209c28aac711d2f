//! Measurements of our own budgets, as ratios within one run.

pub mod books;
pub mod chat;
pub mod http;
pub mod load;
pub mod nginx;
pub mod process;
pub mod quota;
pub mod samples;
pub mod service;
pub mod upstream;

// What is measured runs on what is shipped.
use allocator as _;
