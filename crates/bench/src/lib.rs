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

/// The allocator that the program runs with, so that what is measured is what is shipped.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
